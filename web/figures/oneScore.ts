// Figure "One score asks four questions": a head's scores for a sentence or seeded tables, and the terms that
// add up to them.
import { logitsOf, type Scores } from 'superpose';
import { aboutPercent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { bars, colourKey, largestMagnitude, map, multiples, titleHeight } from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import { sizeWithin } from '../plot/within.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, Said } from './figure.js';
import { gaugeControl, withGauge } from './gaugeControl.js';
import { fromQueryToKey, queryAndKey } from './pairs.js';
import { seededLayer } from './seededLayer.js';
import {
  headControl,
  mostTokens,
  nothingToShare,
  sentenceControl,
  trainedOrSeeded,
  weightsControl,
} from './sentence.js';
import { ofSixteen, termLabels, terms } from './terms.js';

const controls = {
  weights: { ...weightsControl, more: true },
  view: {
    kind: 'choice',
    more: true,
    label: 'Terms',
    options: { four: 'Four questions, and the rest', sixteen: 'All sixteen' },
    initial: 'four',
    radio: true,
  },
  head: { ...headControl, initial: 2 },
  gauge: { ...gaugeControl, more: true },
  n: { kind: 'range', more: true, label: 'Number of tokens', min: 2, max: 64, step: 1, initial: 16 },
  seed: { kind: 'seed', more: true, label: 'Seed', initial: 1 },
  centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
  on: {
    kind: 'several',
    label: 'Terms that softmax is taken of',
    options: termLabels,
    initial: terms,
  },
  // Not in sight, because the opening figure has the same box.
  text: { ...sentenceControl, more: true },
} as const satisfies Controls;

type State = StateOf<typeof controls>;

interface Panel {
  sum: Float64Array;
  centred: Float64Array;
  share: number;
}

export interface OneScore {
  tokens: readonly string[];
  dropped: number;
  n: number;
  panels: Panel[];
  /** The direct logits, not the sum of the terms. */
  logits: Panel;
  /** The terms that are on. */
  kept: Panel & { softmax: Float64Array };
  /** The largest |sum of all terms − logits|. */
  residual: number;
}

type Data = OneScore;

interface PanelKind {
  label: string;
  question: string;
  term: Term;
  terms: number[];
}

const parts = ['token', 'position', 'segment', 'constant'];
/** The four questions, and all that is left. */
const questions: Record<Term, string> = {
  'token-token': 'These words together?',
  'token-position': 'Word looks for place?',
  'position-token': 'Place looks for word?',
  'position-position': 'These places together?',
  rest: 'Means, β and biases',
};
const fourPanels: PanelKind[] = terms.map((term) => ({
  label: termLabels[term],
  question: questions[term],
  term,
  terms: ofSixteen[term],
}));

const sixteenPanels: PanelKind[] = parts.flatMap((queryPart, s) =>
  parts.map((keyPart, r) => {
    const index = s * parts.length + r;
    const term = fourPanels.find(({ terms }) => terms.length === 1 && terms[0] === index)?.term ?? 'rest';
    return { label: `${queryPart} → ${keyPart}`, question: '', term, terms: [index] };
  }),
);

/** In the canonical gauge, the segment is only one of the means. */
const rawFourPanels = fourPanels.map((panel) =>
  panel.term === 'rest' ? { ...panel, question: 'Segment, β and biases' } : panel,
);

const kindsOf = ({ view, gauge }: State): PanelKind[] =>
  view === 'sixteen' ? sixteenPanels : gauge === 'raw' ? rawFourPanels : fourPanels;

type Taken = Scores<Float64Array> & { tokens: readonly string[]; dropped: number };

// Switching a term off and on must not take the scores apart again.
let last: { key: string; taken: Taken } | undefined;

async function takeApart(library: Library, state: State): Promise<Taken> {
  const { weights, text, head, gauge, n, seed } = state;
  const key = JSON.stringify([gauge, head, ...(weights === 'trained' ? [text] : [n, seed])]);
  if (last?.key === key) return last.taken;
  const taken = weights === 'trained' ? await trained(library, state) : await seeded(library, state);
  last = { key, taken };
  return taken;
}

async function trained(library: Library, { text, head, gauge }: State): Promise<Taken> {
  const model = await library.miniLM();
  const { tokens, dropped, ...sentence } = model.tokenize(text, mostTokens);
  const scores = await model.decompose({ tokens, dropped, ...sentence }, { only: [head], gauge });
  return { ...scores, tokens, dropped };
}

async function seeded(library: Library, { n, seed, head, gauge }: State): Promise<Taken> {
  const superpose = await library.first();
  const { summands, layer } = seededLayer(superpose, n, seed);
  const scores = superpose.decompose({ summands, ...layer, only: [head], gauge });
  return { ...scores, tokens: Array.from({ length: n }, (_, place) => `token ${place}`), dropped: 0 };
}

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const taken = await takeApart(library, state);
  const superpose = await library.first();
  const { head } = state;
  const combine = (chosen: (term: number) => boolean) =>
    superpose.combineTerms(
      taken,
      head,
      Array.from({ length: taken.parts.length ** 2 }, (_, term) => chosen(term)),
    );
  const shown = ({ sum, centred, share }: Panel): Panel => ({ sum, centred, share });
  const all = combine(() => true);
  const onTerms = new Set(
    fourPanels.filter(({ term }) => state.on.includes(term)).flatMap(({ terms }) => terms),
  );
  return {
    tokens: taken.tokens,
    dropped: taken.dropped,
    n: taken.n,
    panels: kindsOf(state).map(({ terms }) => shown(combine((term) => terms.includes(term)))),
    logits: { ...shown(all), sum: logitsOf(taken, head).slice() },
    kept: combine((term) => onTerms.has(term)),
    residual: taken.residuals[0] as number,
  };
};

/** The share of all maps' values that lies within the ends of their scale. */
const part = 0.99;

const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);

export const figure: Figure<typeof controls, Data> = {
  name: 'one-score',
  title: 'One score, and the questions it asks',
  controls,
  ...trainedOrSeeded,

  scene(data, state, width) {
    const kinds = kindsOf(state);
    const { n } = data;
    const sixteen = state.view === 'sixteen';
    const narrow = width < 560;
    const grid = sixteen
      ? multiples(width, narrow ? 60 : 120, 4, narrow ? 6 : 12)
      : multiples(width, narrow ? 130 : 118, 5);
    const titled = titleHeight(!sixteen);
    const cell = titled + grid.width + 12;
    const shown = [...data.panels, data.logits].map((panel) => values(panel, state));
    const limit = sizeWithin(shown, part) || largestMagnitude(shown);
    const marks: Mark[] = [];
    const regions: Region[] = [];
    kinds.forEach(({ label, question, term }, place) => {
      const { row, x } = grid.at(place);
      const drawn = map(
        { x, y: row * cell, width: grid.width, height: titled + grid.width },
        {
          values: values(data.panels[place] as Panel, state),
          rows: n,
          columns: n,
          low: -limit,
          high: limit,
          scale: 'diverging',
          title: sixteen && narrow ? label.replace(/[a-z]+/g, (word) => word.slice(0, 3)) : label,
          ...(sixteen ? {} : { subtitle: question }),
          term,
          faint: !state.on.includes(term),
        },
      );
      marks.push(...drawn.marks);
      regions.push(drawn.region);
      if (!sixteen && x > 0) {
        const { x: left, y: top, height } = drawn.region;
        marks.push({
          mark: 'text',
          x: left - 7,
          y: top + height / 2,
          text: '+',
          anchor: 'middle',
          ink: 'ink',
          size: 15,
        });
      }
    });
    let y = Math.ceil(kinds.length / grid.columns) * cell + 4;
    const unit = state.centred ? 'logit less its row’s mean' : 'logit';
    marks.push(
      ...colourKey(0, y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: narrow
          ? `${state.centred ? 'less its row’s mean' : unit}, 99 % inside`
          : `${unit}, one scale for all, 99 % of the values inside; queries down, keys across`,
        print: readable,
      }),
    );
    y += 44;
    const [equals, between] = [20, 30];
    const size = Math.min(200, (width - equals - between) / 2);
    const results = [
      {
        sign: '=',
        title: 'the score',
        array: values(data.logits, state),
        low: -limit,
        high: limit,
        scale: 'diverging',
      },
      {
        sign: '→',
        title: narrow ? 'attention' : 'attention from ticked terms',
        array: data.kept.softmax,
        low: 0,
        high: 1,
        scale: 'sequential',
      },
    ] as const;
    results.forEach(({ sign, title, array, low, high, scale }, place) => {
      const x = equals + place * (size + between);
      const drawn = map(
        { x, y, width: size, height: size + titleHeight() },
        { values: array, rows: n, columns: n, low, high, scale, title },
      );
      marks.push(...drawn.marks, {
        mark: 'text',
        x: x - (place === 0 ? equals : between) / 2 - 1,
        y: y + titleHeight() + size / 2 + 5,
        text: sign,
        anchor: 'middle',
        ink: 'ink',
        size: 17,
      });
      regions.push(drawn.region);
    });
    const right = equals + 2 * size + between;
    const below = y + size + titleHeight() + 10;
    marks.push(
      ...colourKey(equals + size + between, below, {
        low: 0,
        high: 1,
        scale: 'sequential',
        label: narrow ? '' : 'weight',
      }),
    );
    const beside = width >= right + 300;
    const barHeight = (sixteen ? 13 : 24) * kinds.length;
    const shares = beside
      ? { x: right + 36, y: y + 26, width: width - right - 36, height: barHeight }
      : { x: 0, y: below + 62, width, height: barHeight };
    const list = kinds.map(({ label, term }, place) => {
      const { share } = data.panels[place] as Panel;
      return { label, value: share, text: percent(share), ink: term, term };
    });
    const found = list.map(({ value }) => value).filter(Number.isFinite);
    marks.push(
      {
        mark: 'text',
        x: shares.x,
        y: shares.y - 12,
        text: `Shares of variation, ${state.gauge} gauge`,
        ink: 'ink',
        size: 13,
      },
      ...bars(shares, list, Math.min(0, ...found), Math.max(1, ...found)),
    );
    const height = Math.max(below + 36, shares.y + barHeight + 4);
    return { width, height, marks, regions } satisfies Scene;
  },

  describe(data, state) {
    if (!Number.isFinite(data.panels[0]?.share ?? Number.NaN)) {
      return nothingToShare(state, data.n);
    }
    const ranked = kindsOf(state)
      .map(({ label }, place) => ({ label, share: data.panels[place]?.share as number }))
      .sort((a, b) => b.share - a.share);
    const [first, second] = ranked as [(typeof ranked)[0], (typeof ranked)[0]];
    const lowest = ranked.at(-1) as (typeof ranked)[0];
    const against =
      lowest.share < 0 ? ` ${lowest.label} works against the whole, with ${aboutPercent(lowest.share)}.` : '';
    const whose = state.weights === 'trained' ? 'For this sentence' : 'With these random weights';
    return `${whose}, in the ${state.gauge} gauge, ${first.label} makes up ${aboutPercent(first.share)} of the variation in head ${state.head}’s scores, and ${second.label} ${aboutPercent(second.share)}.${against} The terms add up to the score ${howExactly(data.residual)}.`;
  },

  ...fromQueryToKey,

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const at = (panel: Panel) => values(panel, state)[cell] ?? Number.NaN;
    const pieces = kindsOf(state).flatMap(({ label, term }, place): Said[] => [
      { text: `${signed(at(data.panels[place] as Panel))} ${state.view === 'four' ? label : ''}`, term },
      ' ',
    ]);
    return [
      ...queryAndKey(data.tokens, { i, j }),
      ...pieces,
      `= score ${readable(at(data.logits))}. Softmax ${
        state.on.length === fourPanels.length ? '' : 'of the terms on '
      }gives it ${percent(data.kept.softmax[cell] ?? Number.NaN)} of the attention.`,
    ];
  },

  table(data, state) {
    const kinds = kindsOf(state);
    const rows: (string | number)[][] = [];
    for (let i = 0; i < data.n; i++) {
      for (let j = 0; j < data.n; j++) {
        const cell = i * data.n + j;
        rows.push([
          i,
          j,
          data.tokens[i] as string,
          data.tokens[j] as string,
          ...data.panels.map((panel) => values(panel, state)[cell] as number),
          values(data.logits, state)[cell] as number,
          data.kept.softmax[cell] as number,
        ]);
      }
    }
    const blank = kinds.map(() => '');
    rows.push(['largest |sum of the terms − score|', '', '', '', ...blank, data.residual, '']);
    const found = {
      columns: [
        'query',
        'key',
        'query token',
        'key token',
        ...kinds.map(({ label }) => label),
        'score',
        'attention from ticked terms',
      ],
      rows,
    };
    return withGauge(found, state.gauge);
  },
};
