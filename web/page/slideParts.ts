// Parts of a presentation's screens: a question with its answer, the list of all screens, and the large code.
import { html, nothing, type TemplateResult } from 'lit';
import { qrCode } from './qrCode.js';
import type { Answer, Question, Slide } from './slides.js';

/** What was done on a screen. */
export interface Memory {
  /** The link to a state that is not the screen's own. */
  link?: string | undefined;
  /** The value of the choice that was made. */
  chosen?: string | undefined;
  answer?: Answer | undefined;
}

export function questionOf(
  { kind, choices, see }: Question,
  { chosen, answer }: Memory,
  reveal: (chosen?: string) => void,
): TemplateResult {
  const said = choices.find(({ value }) => value === chosen)?.label;
  const isRight = said === answer?.right;
  const outcome =
    said === undefined || !answer?.right ? '' : isRight ? 'You were right.' : `You said: ${said}.`;
  // The verdict of a claim begins its text.
  const right = answer?.right && kind === 'bet' ? html`<b>${answer.right}.</b>` : nothing;
  return html`<div class="choices">${choices.map(
    ({ value, label }) =>
      html`<button aria-pressed=${value === chosen} @click=${() => reveal(value)}>${label}</button>`,
  )}</div>
    ${
      answer
        ? html`<p class="outcome">${right} ${outcome} ${answer.because}</p>`
        : html`<button class="main" @click=${() => reveal()}>Show the answer</button>`
    }
    ${answer && see ? html`<p><a href=${see}>See it</a></p>` : nothing}`;
}

/** The part of the page that a screen belongs to, without who made a claim. */
const sectionIn = (part = ''): string => part.split(' · ')[0] as string;

/** All screens below the parts of the page that they belong to, and how far the handout has got. */
export function listOf(
  slides: readonly Slide[],
  now: number,
  status: string,
  print: () => void,
): TemplateResult {
  const item = ({ at, part, title, figure }: Slide, place: number) =>
    html`${
      part !== '' && sectionIn(part) !== sectionIn(slides[place - 1]?.part)
        ? html`<h3>${sectionIn(part)}</h3>`
        : nothing
    }<a href="#present${at && `/${at}`}" aria-current=${place === now ? 'true' : nothing}><span>${place + 1}</span> ${title || figure}</a>`;
  return html`<nav class="cover slides" aria-label="All slides">${slides.map(item)}
    <p class="part">Arrow and Page keys go from slide to slide. O opens this list, Q enlarges the code, B blanks the screen, P prints a handout, and Esc leaves.</p>
    <p><button @click=${print}>Print a handout</button> <span role="status">${status}</span></p></nav>`;
}

/** The most letters of an address that an audience might type. */
const typed = 120;

/** The code of an address over the whole screen, with the address below. */
export const largeCode = (address: string, close: () => void): TemplateResult =>
  html`<div class="cover large" @click=${close}>${qrCode(address)}<p>${address.length > typed ? address.replace(/#.*/s, '#…') : address}</p></div>`;

/** Answers what an audience asks about every number of a trained model. */
export const openYours = html`<p class="note">Does it hold for GPT-2? Not checked here: <a href="#user-model">open yours</a>.</p>`;
