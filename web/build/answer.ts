// The answer in three sentences, with links to the figures that show it, put into the page when it is built.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { headless } from './site/figures.js';
import { html, linkOf, type Shown } from './verdicts.js';

export interface Sentence {
  /** Each part in brackets is a link. */
  text: string;
  /** Where the links go, in their order. */
  links: Shown[];
}

export interface Answer {
  /** For places with room for one line. */
  short: string;
  sentences: Sentence[];
}

export const answer: Answer = JSON.parse(
  readFileSync(new URL('../page/answer.json', import.meta.url), 'utf8'),
);

/** The text without the brackets of its links. */
export const plainText = ({ text }: Sentence): string => text.replace(/[[\]]/g, '');

export const answerBox = (): Plugin => ({
  name: 'answer-box',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(page) {
      if (!page.includes('<answer-box></answer-box>')) return page;
      const withFigures = await headless();
      const sentences = answer.sentences.map((sentence) => {
        const links = sentence.links.map((one) => html(linkOf(one, withFigures)));
        const text = html(sentence.text).replace(
          /\[(.*?)\]/g,
          (_, said: string) => `<a class="see" href="${links.shift()}">${said}</a>`,
        );
        return `<p>${text}</p>`;
      });
      return page
        .replace('<answer-box></answer-box>', () => sentences.join('\n'))
        .replaceAll('<answer-short></answer-short>', () => html(answer.short));
    },
  },
});
