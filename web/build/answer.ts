// Builds the short answer into the page, with links to the figures that show it.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { headless } from './site/figures.js';
import { html, type LinkedText, linked } from './verdicts.js';

export interface Answer {
  /** The answer in one line, for descriptions and help texts. */
  short: string;
  /** The text that follows the short form below the title. */
  lede: string;
  sentences: Required<LinkedText>[];
}

export const answer: Answer = JSON.parse(
  readFileSync(new URL('../page/answer.json', import.meta.url), 'utf8'),
);

export const answerBox = (): Plugin => ({
  name: 'answer-box',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(page) {
      if (!/<answer-(box|lede)>/.test(page)) return page;
      const withFigures = await headless();
      const parts = answer.sentences.map((part) => `<li><p>${linked(part, withFigures)}</p></li>`);
      return page
        .replace('<answer-box></answer-box>', () => `<ol class="parts">${parts.join('\n')}</ol>`)
        .replaceAll(
          '<answer-lede></answer-lede>',
          () => `<strong>${html(answer.short)}</strong> ${html(answer.lede)}`,
        );
    },
  },
});
