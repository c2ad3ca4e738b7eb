// The screens of a presentation: the page's figures, steps, bets and claims, in its order and in its words.
import { readLink } from '../element/link.js';

export interface Slide {
  /** The part of its address after `#present/`. */
  at: string;
  /** The fragment of its place on the page. */
  home: string;
  /** Its part of the page, and its title and text; if these are empty, the figure's are shown. */
  part: string;
  title: string;
  text: string;
  /** Without a figure, the screen shows sentences or a question. */
  figure?: string;
  settings: [string, string][];
  sentences?: string[];
  question?: Question;
  /** Where it is on the page; undefined for a figure that is not there. */
  place?: Element;
}

export interface Answer {
  /** The answer in the words of a choice. */
  right: string;
  because: string;
}

/** A bet, or a claim to be judged. */
export interface Question {
  kind: 'bet' | 'claim';
  choices: { value: string; label: string }[];
  answer(chosen: string | undefined): Promise<Answer>;
  /** The fragment of the figure that shows the answer. */
  see?: string;
}

/** The text of an element, with its non-breaking spaces. */
const textOf = (place: Element | null | undefined, selector?: string): string =>
  (selector ? place?.querySelector(selector) : place)?.textContent?.replace(/[ \n]+/g, ' ').trim() ?? '';

/** The heading above an element, in its section or in the page's header. */
const headingOf = (place: Element): string => textOf(place.closest('section, .hero, header'), 'h1, h2');

/** The id of the section, or else of the hero, around an element; '' if neither has one. */
const sectionOf = (place: Element): string => place.closest('section[id], .hero[id]')?.id ?? '';

const blank = { part: '', title: '', text: '', settings: [] };

function slideOfStep(step: Element): Slide | undefined {
  const home = (step.querySelector('h3 > a') as HTMLAnchorElement).hash;
  const link = readLink(home);
  if (!link || 'refused' in link) return undefined;
  const [part, title, text] = [headingOf(step), textOf(step, 'h3'), textOf(step, 'p')];
  return { at: sectionOf(step), home, part, title, text, ...link };
}

function slideOfFigure(figure: Element): Slide {
  const section = figure.closest('section, .hero, header') as Element;
  const isFirst = figure.closest('header') !== null && document.querySelector('superpose-figure') === figure;
  const at = sectionOf(figure);
  const text = isFirst ? textOf(document.querySelector('main > header'), '.short') : '';
  const title = isFirst ? textOf(document.querySelector('h1')) : textOf(section, 'h1, h2');
  const home = isFirst ? '#' : `#${at}`;
  return { ...blank, at, home, title, text, figure: figure.getAttribute('name') as string };
}

function slideOfAnswer(answer: Element): Slide {
  const sentences = [...answer.querySelectorAll('li')].map((sentence) => textOf(sentence));
  return { ...blank, at: 'answer', home: '#answer', title: textOf(answer, 'h2, h3'), sentences };
}

function slideOfBet(bet: Element): Slide {
  const name = (bet as HTMLElement).dataset.bet ?? '';
  const choices = [...bet.querySelectorAll('input')].flatMap(({ type, value, labels, dataset }) =>
    type === 'radio'
      ? [{ value, label: textOf(labels?.[0]) }]
      : (dataset.values ?? '').split(' ').map((width) => ({ value: width, label: `d = ${width}` })),
  );
  const question: Question = {
    kind: 'bet',
    choices,
    answer: async (chosen) => (await import('./bets.js')).answerTo(name, chosen),
  };
  const part = headingOf(bet);
  return {
    ...blank,
    at: `bet/${name}`,
    home: `#${sectionOf(bet)}`,
    part,
    title: textOf(bet, 'legend'),
    question,
  };
}

const tags = ['True', 'False', 'Depends'];

function slideOfClaim(claim: Element): Slide {
  const verdict = claim.querySelector('p')?.cloneNode(true) as Element;
  for (const link of verdict.querySelectorAll('.see')) link.remove();
  const see = claim.querySelector<HTMLAnchorElement>('p .see')?.hash ?? '';
  const [said, on] = [claim.querySelector('.claim')?.cloneNode(true) as Element, textOf(claim, '.on')];
  said.querySelector('.on')?.remove();
  const question: Question = {
    kind: 'claim',
    choices: tags.map((tag) => ({ value: tag, label: tag })),
    answer: async () => ({ right: (claim as HTMLElement).dataset.tag ?? '', because: textOf(verdict) }),
    see,
  };
  const part = [headingOf(claim), on.split(':')[0]].filter(Boolean).join(' · ');
  return { ...blank, at: 'claim', home: '#verdicts', part, title: textOf(said), question };
}

/**
 * Selects what becomes a screen. A step's figure comes with the step, and a figure in a closed card only with
 * a link to it.
 */
const parts =
  'superpose-figure:not(.stage *, details *, dialog *), .step, .bet, .answer, .verdict:not(.later)';

export function slidesOfPage(): Slide[] {
  const slides: Slide[] = [];
  const count = new Map<string, number>();
  for (const place of document.querySelectorAll(parts)) {
    const slide = place.matches('.step')
      ? slideOfStep(place)
      : place.matches('.bet')
        ? slideOfBet(place)
        : place.matches('.answer')
          ? slideOfAnswer(place)
          : place.matches('.verdict')
            ? slideOfClaim(place)
            : slideOfFigure(place);
    if (!slide) continue;
    const { at } = slide;
    const number = (count.get(at) ?? 0) + 1;
    count.set(at, number);
    slides.push({ ...slide, at: slides.length === 0 ? '' : number === 1 ? at : `${at}/${number}`, place });
  }
  return slides;
}

/** Steps of one stage, and claims, are seen together. */
const blockOf = ({ place }: Slide) => place?.closest('.stage, .verdicts') ?? place;

/** The number of the screen that the reader sees, in the last block to reach the window's upper half. */
export function slideInView(slides: readonly Slide[]): number {
  const block = slides.map(blockOf).findLast((candidate) => {
    const box = candidate?.getBoundingClientRect();
    return box !== undefined && box.height > 0 && box.top < innerHeight / 2;
  });
  const together = slides.filter((slide) => block !== undefined && blockOf(slide) === block);
  const current = together.find(({ place }) => place?.querySelector('[aria-current]')) ?? together[0];
  return current ? slides.indexOf(current) : 0;
}
