// Figure "One score asks four questions": a head's scores for a sentence or seeded tables, and the terms that
// add up to them.
import { logitsOf, type Scores } from 'superpose';
import { aboutPercent, percent, readable, signed } from '../plot/format.js';
import { howExactly } from '../plot/gap.js';
import { type Area, bars, colourKey, largestMagnitude, map, multiples, titleHeight } from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import { sizeWithin } from '../plot/within.js';
import type { Controls, StateOf } from './controls.js';
import type { Compute, Figure, Library, Said } from './figure.js';
import { gaugeControl, withGauge } from './gaugeControl.js';
import { sharedOut } from './heads.js';
import { fromQueryToKey, queryAndKey } from './pairs.js';
import { seededLayer } from './seededLayer.js';
import {
  headControl,
  mostTokens,
  nothingToShare,
  oneScoreTitle,
  sentenceControl,
  trainedOrSeeded,
  weightsControl,
} from './sentence.js';
import { groups, ofSixteen, termLabels, terms } from './terms.js';

const controls = {
  weights: weightsControl,
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
    more: true,
    label: 'Terms included',
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
  /** The five shares of each head, to choose one by; empty if only one head was taken apart. */
  heads: number[][];
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
  'token-token': 'Tokens together?',
  'token-position': 'Token asks position?',
  'position-token': 'Position asks token?',
  'position-position': 'Positions together?',
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

// Switching a term off and on must not take the scores apart again, nor choosing a head all heads.
let last: { key: string; taken: Taken } | undefined;
let lastHeads: { key: string; heads: number[][] } | undefined;

/** What the scores depend on beside the head. */
const keyOf = ({ weights, text, gauge, n, seed }: State): unknown[] => [
  gauge,
  ...(weights === 'trained' ? [text] : [n, seed]),
];

async function allHeads(library: Library, state: State): Promise<number[][]> {
  const key = JSON.stringify(keyOf(state));
  if (lastHeads?.key !== key) {
    const { weights, text, gauge, n, seed } = state;
    const superpose = await library.first();
    const input = () => {
      const { summands, layer } = seededLayer(superpose, n, seed);
      return superpose.decompose({ summands, ...layer, groups, gauge });
    };
    const model = weights === 'trained' ? await library.miniLM() : undefined;
    const scores = model
      ? await model.decompose(model.tokenize(text, mostTokens), { groups, gauge })
      : input();
    // Of the rows for each head, the mean and all pooled, the heads'.
    const rows = sharedOut(superpose, [scores]).slice(0, -2);
    lastHeads = { key, heads: rows.map(({ shares }) => shares) };
  }
  return lastHeads.heads;
}

async function takeApart(library: Library, state: State): Promise<Taken> {
  const key = JSON.stringify([state.head, ...keyOf(state)]);
  if (last?.key === key) return last.taken;
  const taken = state.weights === 'trained' ? await trained(library, state) : await seeded(library, state);
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
    heads: await allHeads(library, state),
  };
};

/** The share of all maps' values that lies within the ends of their scale. */
const part = 0.99;

/** A bar for each head, of what its scores vary by; a click chooses the head. */
function stripOf(heads: number[][], chosen: number, width: number): Scene {
  if (heads.length === 0) return { width, height: 0, marks: [], regions: [] };
  const [top, high, gap] = [20, 40, 6];
  const wide = Math.min(64, (width - gap * (heads.length - 1)) / heads.length);
  const marks: Mark[] = [
    {
      mark: 'text',
      x: 0,
      y: 13,
      text: width < 400 ? 'Heads: click one' : 'Heads: click one. Its bar is what its scores vary by',
      ink: 'ink',
      size: 13,
    },
  ];
  const regions = heads.map((shares, head): Region => {
    const x = head * (wide + gap);
    let y = top + high;
    shares.forEach((share, kind) => {
      // What is below zero, or above one because of it, has no room.
      const part = Math.min(y - top, high * Math.max(0, Number.isFinite(share) ? share : 0));
      y -= part;
      const term = terms[kind] as Term;
      marks.push({ mark: 'box', x, y, width: wide, height: part, fill: term, term });
    });
    marks.push({
      mark: 'text',
      x: x + wide / 2,
      y: top + high + 15,
      text: String(head),
      anchor: 'middle',
      ink: head === chosen ? 'ink' : 'quiet',
    });
    return {
      x,
      y: top,
      width: wide,
      height: high + 18,
      pick: 'nothing',
      rows: 1,
      columns: 1,
      sets: { head },
    };
  });
  const { x } = regions[chosen] as Region;
  marks.push({
    mark: 'box',
    x: x - 1,
    y: top - 2,
    width: wide + 2,
    height: high + 4,
    stroke: 'ink',
    wide: 2,
  });
  return { width, height: top + high + 28, marks, regions };
}

const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);

export const figure: Figure<typeof controls, Data> = {
  name: 'one-score',
  title: oneScoreTitle,
  controls,
  ...trainedOrSeeded,

  scene(data, state, width) {
    const kinds = kindsOf(state);
    const { n } = data;
    const sixteen = state.view === 'sixteen';
    const narrow = width < 640;
    const at = arrange(data, state, width);
    const shown = [...data.panels, data.logits].map((panel) => values(panel, state));
    const limit = sizeWithin(shown, part) || largestMagnitude(shown);
    const strip = stripOf(data.heads, state.head, width);
    const marks: Mark[] = [...strip.marks];
    const regions: Region[] = [...strip.regions];
    kinds.forEach(({ label, question, term }, place) => {
      const on = state.on.includes(term);
      const { share } = data.panels[place] as Panel;
      const drawn = map(at.term(place), {
        values: values(data.panels[place] as Panel, state),
        rows: n,
        columns: n,
        low: -limit,
        high: limit,
        scale: 'diverging',
        title: at.short ? shortened(label, sixteen ? 3 : 5) : label,
        ...(sixteen
          ? {}
          : { subtitle: on ? (narrow ? percent(share) : question) : narrow ? 'off' : 'off: click to add' }),
        term,
        faint: !on,
      });
      marks.push(...drawn.marks);
      regions.push({
        ...drawn.region,
        sets: { on: terms.filter((one) => (one === term ? !on : state.on.includes(one))) },
      });
      const { x: left, y: top, height } = drawn.region;
      if (!sixteen && !narrow && place > 0) marks.push(signAt(left - 7, top + height / 2 + 5, '+'));
    });
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
        title: narrow ? 'attention' : 'attention, terms on',
        array: data.kept.softmax,
        low: 0,
        high: 1,
        scale: 'sequential',
      },
    ] as const;
    results.forEach(({ sign, title, array, low, high, scale }, place) => {
      const area = at.result(place);
      const drawn = map(area, { values: array, rows: n, columns: n, low, high, scale, title });
      marks.push(...drawn.marks);
      const { x, y, height } = drawn.region;
      if (!narrow) marks.push(signAt(x - at.between / 2, y + height / 2 + 5, sign));
      regions.push(drawn.region);
    });
    const list = kinds.map(({ label, term }, place) => {
      const { share } = data.panels[place] as Panel;
      return { label, value: share, text: percent(share), ink: term, term };
    });
    const found = list.map(({ value }) => value).filter(Number.isFinite);
    const unit = state.centred ? 'logit less its row’s mean' : 'logit';
    marks.push(
      {
        mark: 'text',
        x: at.shares.x,
        y: at.shares.y - 12,
        text: `Shares of variation, ${state.gauge} gauge`,
        ink: 'ink',
        size: 13,
      },
      ...bars(at.shares, list, Math.min(0, ...found), Math.max(1, ...found)),
      ...colourKey(at.keys.x, at.keys.y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        label: at.keys.short ? `${state.centred ? 'less row mean' : unit}, 99 %` : `${unit}, 99 % inside`,
        print: readable,
      }),
      ...colourKey(at.keys.x, at.keys.y + keyHeight, {
        low: 0,
        high: 1,
        scale: 'sequential',
        label: at.keys.short ? 'weight' : 'weight; queries down, keys across',
      }),
    );
    return { width, height: at.height, marks, regions } satisfies Scene;
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
    const head =
      first.share >= 0.5
        ? `Head ${state.head} is mostly ${first.label}.`
        : `Head ${state.head} mixes ${first.label} and ${second.label}.`;
    const whose = state.weights === 'trained' ? 'For this sentence' : 'With these random weights';
    return `${head} ${whose}, in the ${state.gauge} gauge, ${first.label} makes up ${aboutPercent(first.share)} of the variation in head ${state.head}’s scores, and ${second.label} ${aboutPercent(second.share)}.${against} The terms add up to the score ${howExactly(data.residual)}.`;
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

const keyHeight = 28;

/** “position → position” with words of so many letters. */
const shortened = (label: string, letters: number) =>
  label
    .replaceAll('position', letters > 3 ? 'pos.' : 'pos')
    .replace(/[a-z]+/g, (word) => word.slice(0, letters));

const signAt = (x: number, y: number, text: string): Mark => ({
  mark: 'text',
  x,
  y,
  text,
  anchor: 'middle',
  ink: 'ink',
  size: 16,
});

/**
 * Heads, terms, what they add up to, and the shares beside it. On a phone the score is the cell after the terms, so
 * that the equation is in sight at once.
 */
function arrange({ heads }: Data, state: State, width: number) {
  const sixteen = state.view === 'sixteen';
  const kinds = kindsOf(state).length;
  const narrow = width < 640;
  const grid = narrow
    ? multiples(width, sixteen ? 60 : 84, sixteen ? 4 : 3, sixteen ? 6 : 10)
    : sixteen
      ? multiples(width, 70, 8, 12)
      : multiples(width, 100, 5);
  const titled = titleHeight(!sixteen);
  const cell = titled + grid.width + 12;
  const top = stripOf(heads, state.head, width).height;
  const cellAt = (place: number, title: number): Area => {
    const { row, x } = grid.at(place);
    return { x, y: top + row * cell + titled - title, width: grid.width, height: title + grid.width };
  };
  const below = (cells: number) => top + Math.ceil(cells / grid.columns) * cell;
  const barsHeight = (sixteen ? 13 : narrow ? 24 : 18) * kinds;
  const term = (place: number) => cellAt(place, titled);
  if (narrow) {
    const shares = { x: 0, y: below(kinds + 2) + 2 * keyHeight + 28, width, height: barsHeight };
    return {
      short: true,
      between: 0,
      term,
      result: (place: number) => cellAt(kinds + place, titleHeight()),
      keys: { x: 0, y: below(kinds + 2), short: true },
      shares,
      height: shares.y + barsHeight + 4,
    };
  }
  const y = below(kinds);
  const between = 26;
  const size = Math.min(154, 0.24 * width);
  const right = 2 * (size + between) + 16;
  const shares = { x: right, y: y + 26, width: width - right, height: barsHeight };
  const keys = { x: right, y: shares.y + barsHeight + 8, short: shares.width < 390 };
  return {
    short: grid.width < 125,
    between,
    term,
    result: (place: number): Area => ({
      x: between + place * (size + between),
      y,
      width: size,
      height: titleHeight() + size,
    }),
    keys,
    shares,
    height: Math.max(y + titleHeight() + size, keys.y + 2 * keyHeight) + 2,
  };
}
