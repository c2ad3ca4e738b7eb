// The reader's bets, made before any answer, and what became of them at the end, computed then and there.

import type { Data as CollisionData } from '../figures/collisionError.js';
import { initialState } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import type { Data as ObliqueData } from '../figures/oblique.js';
import type { Data as ConcatData } from '../figures/threeConcats.js';
import { percent } from '../plot/format.js';
import { asker } from '../worker/client.js';

/** What became of a bet: whether it was right, and what was found. */
interface Outcome {
  right: boolean;
  finding: string;
}

interface Bet {
  name: string;
  figure: string;
  judge(data: unknown, chosen: string | undefined): Outcome;
}

/** Fewer than this share of words lost is what the third bet is about. */
const fewest = 0.001;

const bets: Bet[] = [
  {
    name: 'lost',
    figure: 'oblique',
    judge(data, chosen) {
      const { exactError, now } = data as ObliqueData;
      const back = exactError < 1e-9;
      const answer = !back ? 'lost' : now.gain > 1 + 1e-9 ? 'price' : 'free';
      return { right: chosen === answer, finding: '' };
    },
  },
  {
    name: 'cross',
    figure: 'three-concats',
    judge(data, chosen) {
      const meets = (data as ConcatData).ways.map(({ cross }) => cross > 0);
      const [, raw, full, apart] = meets;
      const answer = full && !raw && !apart ? 'depends' : full ? 'stay' : 'vanish';
      return { right: chosen === answer, finding: '' };
    },
  },
  {
    name: 'width',
    figure: 'collision-error',
    judge(data, chosen) {
      const { widths, scales, points } = data as CollisionData;
      const row = scales.indexOf(1);
      const lost = points.map((of) => of[row]?.share ?? Number.NaN);
      const enough = widths[lost.findIndex((share) => share < fewest)];
      const yours = lost[widths.indexOf(Number(chosen))];
      const own = yours === undefined ? '' : ` At the width you chose, ${chosen}, it is ${percent(yours)}.`;
      return {
        right: Number(chosen) === enough,
        finding: `The smallest of these widths at which fewer than ${percent(fewest)} are lost is ${enough}.${own}`,
      };
    },
  },
];

const form = () => document.querySelector('#bets-form');
const inputs = () => [...(form()?.querySelectorAll('input') ?? [])];

/** In some frames there is no storage, and asking for it throws. */
const stored = {
  get: (): Record<string, string> => {
    try {
      return JSON.parse(sessionStorage.getItem('superpose-bets') ?? '{}');
    } catch {
      return {};
    }
  },
  set: (made: Record<string, string>) => {
    try {
      sessionStorage.setItem('superpose-bets', JSON.stringify(made));
    } catch {}
  },
};

/** The bets as they stand: radio buttons chosen, and the slider once it was moved. */
function made(): Record<string, string> {
  return Object.fromEntries(
    inputs()
      .filter((one) => (one.type === 'radio' ? one.checked : one.dataset.moved === 'yes'))
      .map((one) => [one.name, one.type === 'radio' ? one.value : widthOf(one)]),
  );
}

const widthOf = (slider: HTMLInputElement): string =>
  (slider.dataset.values ?? '').split(' ')[Number(slider.value)] ?? '';

function showWidth(slider: HTMLInputElement): void {
  const shown = slider.parentElement?.querySelector('output');
  if (shown) shown.textContent = widthOf(slider);
  slider.setAttribute('aria-valuetext', widthOf(slider));
}

function restore(): void {
  const before = stored.get();
  for (const one of inputs()) {
    if (!Object.hasOwn(before, one.name)) continue;
    if (one.type === 'radio') one.checked = one.value === before[one.name];
    else {
      const place = (one.dataset.values ?? '').split(' ').indexOf(before[one.name] as string);
      if (place < 0) continue;
      one.value = String(place);
      one.dataset.moved = 'yes';
    }
  }
}

/** What the reader chose, in the words of the choice. */
function wordsOf(name: string): string | undefined {
  const chosen = made()[name];
  if (chosen === undefined) return undefined;
  const radio = form()?.querySelector<HTMLInputElement>(`input[name="${name}"]:checked`);
  return radio?.labels?.[0]?.textContent?.trim() ?? chosen;
}

interface Answered {
  figure: AnyFigure;
  data: unknown;
}

const answers = new Map<string, Answered>();

async function find(bet: Bet, done: () => void, failed: (sentence: string) => void): Promise<void> {
  const figure = await (figures[bet.figure] as () => Promise<AnyFigure>)();
  const state = initialState(figure.controls);
  asker(bet.figure, {
    answered: (data) => {
      answers.set(bet.name, { figure, data });
      done();
    },
    failed,
    progress: () => {},
  }).ask(state as never);
}

function show(bet: Bet, line: HTMLElement): void {
  const answer = answers.get(bet.name);
  if (!answer) return;
  const chosen = wordsOf(bet.name);
  const { right, finding } = bet.judge(answer.data, made()[bet.name]);
  const verdict = chosen === undefined ? 'No bet.' : right ? 'You were right.' : 'Not quite.';
  const yours = chosen === undefined ? '' : ` You said: ${chosen}.`;
  const state = initialState(answer.figure.controls);
  const strong = document.createElement('strong');
  strong.textContent = verdict;
  line.replaceChildren(strong, `${yours} ${finding || answer.figure.describe(answer.data, state as never)}`);
}

export function takeBets(): void {
  const [asked, told] = [form(), document.querySelector('#bets-told')];
  if (!asked || !told) return;
  restore();
  for (const slider of asked.querySelectorAll<HTMLInputElement>('input[type=range]')) showWidth(slider);
  const lines = new Map(
    bets.map(({ name }) => [name, told.querySelector<HTMLElement>(`[data-bet=${name}]`)]),
  );
  const showAll = () => {
    for (const bet of bets) {
      const line = lines.get(bet.name);
      if (line) show(bet, line);
    }
  };
  asked.addEventListener('input', (event) => {
    const input = event.target as HTMLInputElement;
    if (input.type === 'range') {
      input.dataset.moved = 'yes';
      showWidth(input);
    }
    stored.set(made());
    showAll();
  });
  // Nothing is computed for it before the reader comes near.
  const views = new IntersectionObserver(
    ([entry]) => {
      if (!entry?.isIntersecting) return;
      views.disconnect();
      for (const bet of bets) {
        const line = lines.get(bet.name);
        find(bet, showAll, (sentence) => {
          if (line) line.textContent = sentence;
        }).catch(() => {
          if (line) line.textContent = 'This could not be computed. Reload the page to try again.';
        });
      }
    },
    { rootMargin: '300px' },
  );
  views.observe(told);
}
