// A handout of a presentation: its screens on a few sheets, each with its picture, and without what can only
// be done on a screen.
import { html, nothing, render, type TemplateResult } from 'lit';
import { pageTexts } from '../element/pageTexts.js';
import { readState, type State } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import { cropAbove } from '../plot/cropping.js';
import { svgPicture } from '../plot/svg.js';
import { asker } from '../worker/client.js';
import { qrCode } from './qrCode.js';
import type { Answer, Slide } from './slides.js';

/** The width of a printed column in pixels; a picture drawn to it has letters as large as on the screen. */
const column = 330;
/** In pixels. A higher picture ends between two of its parts, unless too little of it would be left. */
const highest = 330;
const least = highest / 2;

interface Item {
  slide: Slide;
  /** The address of a picture. */
  picture?: string;
  text: string;
  answer?: Answer;
}

/** Matches a sentence that asks the reader to do something. */
const asksForHands =
  /^(And |Now |Then )?(Click|Drag|Move|Open|Pick|Play|Point|Press|Pull|Replay|Slide|Switch|Take|Tap|Try|Turn|Watch)\b|\b([Dd]rag|[Pp]ull|slider)/;

/** The sentences of a text that make sense on paper. */
export const onPaper = (text: string): string =>
  text
    .split(/(?<=[.!?:]) (?=[A-ZΑ-Ω“])/)
    .filter((sentence) => !asksForHands.test(sentence))
    .join(' ');

const dataOf = (name: string, state: State) =>
  new Promise<unknown>((answered, refused) => {
    const failed = (sentence: string) => refused(new Error(sentence));
    asker(name, { answered, failed, progress() {} }).ask(state);
  });

/** The settings of a screen, with the reader's sentence if the figure reads one. */
function stateOf({ controls, settle }: AnyFigure, settings: readonly [string, string][]): State {
  const own = Object.entries(pageTexts()).filter(
    ([name]) => controls[name]?.kind === 'text' && controls[name].shared,
  );
  const { state } = readState(controls, [...own, ...settings]);
  return settle?.(state, undefined) ?? state;
}

async function itemOf(slide: Slide): Promise<Item> {
  if (slide.question) return { slide, text: '', answer: await slide.question.answer(undefined) };
  if (!slide.figure) return { slide, text: (slide.sentences ?? []).join(' ') };
  const figure = await (figures[slide.figure] as () => Promise<AnyFigure>)();
  const state = stateOf(figure, slide.settings);
  const data = await dataOf(slide.figure, state);
  const scene = figure.scene(data, state, column);
  const cut = cropAbove(scene, highest);
  const height = cut < least ? scene.height : Math.min(scene.height, cut);
  const [title, description] = [figure.title, figure.describe(data, state)];
  const options = { theme: 'light', title, description, ground: false } as const;
  const svg = await svgPicture({ ...scene, height }, options);
  const picture = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  const text = onPaper(slide.text) || onPaper(description);
  return { slide: { ...slide, title: slide.title || figure.title }, picture, text };
}

const printed = ({ slide, picture, text, answer }: Item): TemplateResult => html`<article>
  <h2>${slide.title}</h2>
  ${picture ? html`<img src=${picture} alt="" width=${column} />` : nothing}
  ${text ? html`<p>${text}</p>` : nothing}
  ${answer ? html`<p>${slide.question?.kind === 'bet' ? html`<b>${answer.right}.</b> ` : nothing}${answer.because}</p>` : nothing}
</article>`;

/** Computes the handout, says how far it is, and prints it. */
export async function printHandout(slides: readonly Slide[], say: (status: string) => void): Promise<void> {
  const items: Item[] = [];
  for (const [place, slide] of slides.entries()) {
    say(`Handout: ${place + 1} of ${slides.length}`);
    // A screen whose figure cannot be computed is left out.
    const item = await itemOf(slide).catch(() => undefined);
    if (item) items.push(item);
  }
  const address = location.href.split('#')[0] as string;
  const title = document.querySelector('h1')?.textContent ?? document.title;
  const root = document.body.appendChild(document.createElement('div'));
  root.className = 'handout';
  render(
    html`<header><div><h1>${title}</h1><p><a href=${address}>${address}</a></p></div>${qrCode(address)}</header>
      <div class="columns">${items.map(printed)}</div>`,
    root,
  );
  await Promise.all([...root.querySelectorAll('img')].map((image) => image.decode().catch(() => {})));
  const forget = () => {
    root.remove();
    for (const { picture } of items) if (picture) URL.revokeObjectURL(picture);
  };
  window.addEventListener('afterprint', forget, { once: true });
  window.print();
}
