// The reader's bets. Each bet is made above the figure that settles it; its answer is computed and shown
// below the bet.

import type { LostShares } from '../figures/collisionsLost.js';
import { initialState } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import type { Data as ObliqueData } from '../figures/oblique.js';

import { exponent, percent, rounding } from '../plot/format.js';
import { asker } from '../worker/client.js';

/** The answer, as a choice's value, and a sentence with the figure's numbers that prove it. */
interface Outcome {
  answer: string;
  because: string;
}

interface Bet {
  name: string;
  figure: string;
  /** `chosen` is undefined if nothing was bet. */
  judge(data: unknown, chosen?: string): Outcome;
}

/** The second bet is about losing fewer than this share of words, at which seeds agree on the width. */
const fewest = 0.01;

const bets: Bet[] = [
  {
    name: 'lost',
    figure: 'oblique',
    judge(data) {
      const { exactError, now } = data as ObliqueData;
      const back = exactError < rounding;
      return {
        answer: !back ? 'lost' : now.gain > 1 + rounding ? 'price' : 'free',
        because: `With ${now.k2} position dims the two share no direction: one linear map takes the token out of the sum to within ${exponent(exactError)}, and noise can grow ${now.gain.toFixed(2)}-fold.`,
      };
    },
  },
  {
    name: 'width',
    figure: 'collisions',
    judge(data, chosen) {
      const { widths, scales, points } = data as LostShares;
      const row = scales.indexOf(1);
      const lost = points.map((of) => of[row]?.share ?? Number.NaN);
      const place = lost.findIndex((share) => share < fewest);
      const chosenShare = lost[widths.indexOf(Number(chosen))] ?? Number.NaN;
      const atChoice =
        chosen === undefined || Number(chosen) === widths[place]
          ? ''
          : ` At the width you chose, ${chosen}, ${percent(chosenShare)} are.`;
      return {
        answer: String(widths[place]),
        because: `It is the smallest of these widths at which fewer than 1 in 100 are mistaken: ${percent(lost[place] ?? Number.NaN)}.${atChoice}`,
      };
    },
  },
];

const inputs = () => [...document.querySelectorAll<HTMLInputElement>('.bet input')];

/** The bets of this tab. In some frames, access to storage throws. */
const stored = {
  get: (): Record<string, string> => {
    try {
      return JSON.parse(sessionStorage.getItem('superpose-bets') ?? '{}');
    } catch {
      return {};
    }
  },
  set: (bets: Record<string, string>) => {
    try {
      sessionStorage.setItem('superpose-bets', JSON.stringify(bets));
    } catch {}
  },
};

/** The bets so far: the chosen radio buttons, and the slider once it was moved. */
function currentBets(): Record<string, string> {
  return Object.fromEntries(
    inputs()
      .filter((input) => (input.type === 'radio' ? input.checked : input.dataset.moved === 'yes'))
      .map((input) => [input.name, input.type === 'radio' ? input.value : widthOf(input)]),
  );
}

/** Stores this page's bets beside those of the site's other page. */
const store = () => stored.set({ ...stored.get(), ...currentBets() });

const widthOf = (slider: HTMLInputElement): string =>
  (slider.dataset.values ?? '').split(' ')[Number(slider.value)] ?? '';

function showWidth(slider: HTMLInputElement): void {
  const shown = slider.parentElement?.querySelector('output');
  if (shown) shown.textContent = widthOf(slider);
  slider.setAttribute('aria-valuetext', widthOf(slider));
}

/** The names of the bets that were made while this code was loading. */
function earlyBets(): ReadonlySet<string> {
  const early = inputs().filter((input) =>
    input.type === 'radio' ? input.checked : input.value !== input.defaultValue,
  );
  for (const input of early) if (input.type === 'range') input.dataset.moved = 'yes';
  return new Set(early.map(({ name }) => name));
}

/** Shows the bets of an earlier visit, but not over newer ones. */
function restore(newer: ReadonlySet<string>): void {
  const before = stored.get();
  for (const input of inputs()) {
    if (newer.has(input.name) || !Object.hasOwn(before, input.name)) continue;
    if (input.type === 'radio') input.checked = input.value === before[input.name];
    else {
      const place = (input.dataset.values ?? '').split(' ').indexOf(before[input.name] as string);
      if (place < 0) continue;
      input.value = String(place);
      input.dataset.moved = 'yes';
    }
  }
}

/** Returns a choice in the words of its label. */
function wordsOf(name: string, value: string): string {
  const choice = inputs().find(
    (input) => input.name === name && input.type === 'radio' && input.value === value,
  );
  return choice?.labels?.[0]?.textContent?.trim() ?? `d = ${value}`;
}

/** The result that settles each bet, computed once and again only after a failure. */
const results = new Map<string, Promise<unknown>>();

function settle({ name, figure }: Bet): Promise<unknown> {
  const memoized = results.get(name);
  if (memoized) return memoized;
  const result = (figures[figure] as () => Promise<AnyFigure>)().then(
    ({ controls }) =>
      new Promise((answered, refused) => {
        const failed = (sentence: string) => refused(new Error(sentence));
        asker(figure, { answered, failed, progress() {} }).ask(initialState(controls) as never);
      }),
    () => Promise.reject(new Error('This could not be computed. Reload the page to try again.')),
  );
  results.set(name, result);
  result.catch(() => results.delete(name));
  return result;
}

/** The answer to a bet, in the words of a choice, and why. */
export async function answerTo(name: string, chosen?: string): Promise<{ right: string; because: string }> {
  const bet = bets.find((candidate) => candidate.name === name) as Bet;
  const { answer, because } = bet.judge(await settle(bet), chosen);
  return { right: wordsOf(name, answer), because };
}

/** Writes the answer, then whether the bet was right, then why. */
function tell({ name, judge }: Bet, data: unknown, line: HTMLElement): void {
  const chosen = currentBets()[name];
  if (chosen === undefined) return;
  const { answer, because } = judge(data, chosen);
  const strong = document.createElement('strong');
  strong.textContent = `${wordsOf(name, answer)}.`;
  const outcome = chosen === answer ? 'You were right.' : `You said: ${wordsOf(name, chosen)}.`;
  line.replaceChildren(strong, ` ${outcome} ${because}`);
}

export function takeBets(): void {
  const early = earlyBets();
  restore(early);
  if (early.size > 0) store();
  for (const slider of document.querySelectorAll<HTMLInputElement>('.bet input[type=range]'))
    showWidth(slider);
  for (const bet of bets) {
    const form = document.querySelector<HTMLElement>(`[data-bet=${bet.name}]`);
    const line = document.querySelector<HTMLElement>(`[data-answer=${bet.name}]`);
    if (!form || !line) continue;
    const answer = () => {
      if (currentBets()[bet.name] === undefined) return;
      settle(bet).then(
        (data) => tell(bet, data, line),
        (error: Error) => {
          line.textContent = error.message;
        },
      );
    };
    form.addEventListener('input', (event) => {
      const input = event.target as HTMLInputElement;
      if (input.type === 'range') {
        input.dataset.moved = 'yes';
        showWidth(input);
      }
      store();
      // While a slider moves, the answer is shown only if it is already known.
      if (input.type !== 'range' || results.has(bet.name)) answer();
    });
    form.addEventListener('change', answer);
    if (early.has(bet.name)) {
      answer();
      continue;
    }
    // A bet made before the page was reloaded is answered when the reader comes near.
    const views = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      views.disconnect();
      answer();
    });
    views.observe(form);
  }
}
