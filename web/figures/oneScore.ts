// Figure "One score asks four questions": a head's scores for a sentence through MiniLM, or for tables and a layer
// that are drawn in chosen sizes, and the terms that add up to them.
import { type CombinedTerms, logitsOf } from 'superpose';
import { aboutPercent, howExactly, percent, readable, signed } from '../plot/format.js';
import {
  type Area,
  bars,
  colourKey,
  largestMagnitude,
  map,
  multiples,
  sizeWithin,
  textAt,
  titleHeight,
} from '../plot/parts.js';
import type { Mark, Region, Scene } from '../plot/scene.js';
import type { Compute, Figure, ReadoutPiece } from './figure.js';
import {
  controls,
  type Data,
  fourPanels,
  kindsOf,
  type Panel,
  type State,
  tablesOf,
  takeApart,
  termsOf,
  values,
} from './oneScoreData.js';
import {
  correlated,
  drawTables,
  keyHeight,
  longTable,
  part,
  productKinds,
  rowKinds,
  shortened,
  signAt,
  stripOf,
  type TablesAt,
} from './oneScoreTables.js';
import { ofSixteen, terms } from './terms.js';
import {
  fetching,
  fromQueryToKey,
  nothingToShare,
  oneScoreTitle,
  queryAndKey,
  withGauge,
  wordsWhen,
} from './trainedModel.js';

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const { taken, heads } = await takeApart(library, state);
  const superpose = await library.small();
  const { scores, tokens, dropped } = taken;
  const shown = ({ sum, centred, share }: Panel): Panel => ({ sum, centred, share });
  const every = Array.from({ length: scores.parts.length ** 2 }, (_, term) => term);
  const on = state.on.flatMap((term) => ofSixteen[term]);
  const chosen = [every, on, ...termsOf(state)];
  const masks = chosen.map((terms) => every.map((term) => terms.includes(term)));
  const [all, kept, ...panels] = superpose.combineTerms(scores, state.head, masks) as [
    CombinedTerms<Float64Array>,
    CombinedTerms<Float64Array>,
    ...CombinedTerms<Float64Array>[],
  ];
  return {
    tokens,
    dropped,
    n: scores.n,
    panels: panels.map(shown),
    logits: { ...shown(all), sum: logitsOf(scores, state.head).slice() },
    kept,
    residual: scores.residuals[0] as number,
    heads,
    ...(state.tables && { tables: tablesOf(superpose, taken.summands) }),
  };
};

export const figure: Figure<typeof controls, Data> = {
  name: 'one-score',
  title: oneScoreTitle,
  controls,
  module: 'small',
  source: ({ weights, positions }) => (weights === 'trained' && positions === 'random' ? 'mixed' : weights),
  waiting: fetching,
  unused: ({ weights, positions }) => [
    ...(weights === 'seeded' ? (['text'] as const) : (['d', 'n'] as const)),
    ...(weights === 'trained' ? (['layer', 'heads'] as const) : []),
    ...(weights === 'seeded' || positions === 'random' ? [] : (['seed'] as const)),
  ],
  /** The head must be one that there is. */
  settle: (state) => ({
    ...state,
    head: Math.min(state.head, (state.weights === 'trained' ? 12 : state.heads) - 1),
  }),
  ...wordsWhen<State>(({ weights }) => weights !== 'seeded'),

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
    if (data.tables && at.tables) {
      const drawn = drawTables(data.tables, n, at.tables);
      marks.push(...drawn.marks);
      regions.push(...drawn.regions);
    }
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
    const unit = state.centred ? 'logit minus its row’s mean' : 'logit';
    marks.push(
      textAt(at.shares.x, at.shares.y - 12, `Shares of variation, ${state.gauge} gauge`, {
        ink: 'ink',
        size: 13,
      }),
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
      lowest.share < 0 ? ` ${lowest.label} pulls the other way, with ${aboutPercent(lowest.share)}.` : '';
    const head =
      first.share >= 0.5
        ? `Head ${state.head} is mostly ${first.label}.`
        : `Head ${state.head} mixes ${first.label} and ${second.label}.`;
    const whose = state.weights === 'trained' ? 'For this sentence' : 'With these random weights';
    const alike = data.tables ? ` ${correlated(data.tables)}` : '';
    return `${head} ${whose}, in the ${state.gauge} gauge, ${first.label} makes up ${aboutPercent(first.share)} of the variation in head ${state.head}’s scores, and ${second.label} ${aboutPercent(second.share)}.${against} The terms add up to the score ${howExactly(data.residual)}.${alike}`;
  },

  ...fromQueryToKey,

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const at = (panel: Panel) => values(panel, state)[cell] ?? Number.NaN;
    const pieces = kindsOf(state).flatMap(({ label, term }, place): ReadoutPiece[] => [
      { text: `${signed(at(data.panels[place] as Panel))} ${state.view === 'four' ? label : ''}`, term },
      ' ',
    ]);
    const { products } = data.tables ?? {};
    return [
      ...queryAndKey(data.tokens, { i, j }),
      ...(products
        ? [
            `concatenated ${readable(products.concatenated[cell] as number)}, added ${readable(products.added[cell] as number)}; `,
          ]
        : []),
      ...pieces,
      `= score ${readable(at(data.logits))}. Softmax ${
        state.on.length === fourPanels.length ? '' : 'of the terms on '
      }gives it ${percent(data.kept.softmax[cell] ?? Number.NaN)} of the attention.`,
    ];
  },

  table(data, state) {
    const kinds = kindsOf(state);
    if (data.tables) return withGauge(longTable(data, data.tables, state), state.gauge);
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

/**
 * Heads, terms, what they add up to, and the shares beside it. On a phone the score is the cell after the terms, so
 * that the equation is in sight at once.
 */
function arrange({ heads, tables: shown }: Data, state: State, width: number) {
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
  const strip = stripOf(heads, state.head, width).height;
  const first = multiples(width, narrow ? 84 : 100, narrow ? 3 : 5, narrow ? 10 : 14);
  const firstCell = titleHeight(true) + first.width + 12;
  const keysY = strip + Math.ceil((rowKinds.length + productKinds.length) / first.columns) * firstCell;
  const stacked = width < 340;
  const tables: TablesAt | undefined = shown && {
    cell(place) {
      const { row, x } = first.at(place);
      return { x, y: strip + row * firstCell, width: first.width, height: firstCell - 12 };
    },
    keys: [
      { x: 0, y: keysY },
      stacked ? { x: 0, y: keysY + keyHeight } : { x: Math.min(190, width - 170), y: keysY },
    ],
  };
  const top = shown ? keysY + (stacked ? 2 : 1) * keyHeight + 14 : strip;
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
      tables,
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
    tables,
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
