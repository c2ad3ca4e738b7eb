// Builds the beats: <beat-stage name="mix"></beat-stage> becomes a picture that stays and the steps of text
// that set its state, or, with one step, a picture and its text.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';
import { headless } from './site/figures.js';
import { type FigureState, type Headless, html, type LinkedText, linked, linkOf } from './verdicts.js';

/** A step of text, and the state of the figure that it is about. */
export interface Step extends LinkedText, Required<FigureState> {
  title: string;
  /** The target of links on the page. */
  id?: string;
  /** The row and column that it marks; if empty, the figure’s first. */
  at?: number[];
}

export interface Beat {
  beat: string;
  steps: Step[];
}

export const beats: Beat[] = JSON.parse(readFileSync(new URL('../page/beats.json', import.meta.url), 'utf8'));

function stepOf(step: Step, withFigures: Headless): string {
  const id = `${step.id ? ` id="${step.id}"` : ''}${step.at ? ` data-at="${step.at.join(' ')}"` : ''}`;
  const link = html(linkOf(step, withFigures));
  return `<li class="step"${id}><div><h3><a href="${link}">${html(step.title)}</a></h3><p>${linked(step, withFigures)}</p></div></li>`;
}

function stageOf({ steps }: Beat, withFigures: Headless): string {
  const shots = [...new Set(steps.map(({ figure }) => figure))].map(
    (name) => `<div class="shot"><superpose-figure name="${name}"></superpose-figure></div>`,
  );
  const all = steps.map((step) => stepOf(step, withFigures)).join('\n');
  // The picture of a single step does not stay: the text follows it.
  const kind = steps.length > 1 ? 'stage' : 'stage single';
  return `<div class="${kind}"><div class="stays">${shots.join('')}</div>\n<ol class="steps">${all}</ol></div>`;
}

export const beatStages = (): Plugin => ({
  name: 'beat-stages',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(page) {
      if (!page.includes('<beat-stage ')) return page;
      const withFigures = await headless();
      return page.replace(/<beat-stage name="([a-z-]+)"><\/beat-stage>/g, (_, name: string) => {
        const beat = beats.find(({ beat }) => beat === name);
        if (!beat) throw new Error(`web/page/beats.json has no beat “${name}”.`);
        return stageOf(beat, withFigures);
      });
    },
  },
});
