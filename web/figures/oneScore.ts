// Figure "One score, and the questions it asks": a head's scores for a sentence, in MiniLM's first layer or
// in the reader's own model, and the terms that add up to them.
import { quantileSorted } from 'd3-array';
import { aboutPercent, howExactly, percent, readable, signed } from '../plot/format.js';
import {
  type Area,
  bars,
  boxAt,
  colourKey,
  edgeRoom,
  edges,
  largestMagnitude,
  map,
  multiples,
  textAt,
  titleHeight,
} from '../plot/parts.js';
import type { Mark, Region, Scene, Term } from '../plot/scene.js';
import type { Figure, ReadoutPiece } from './figure.js';
import { controls, type OneScore, type Panel, type State } from './oneScoreData.js';
import { ofSixteen, termKinds, terms } from './terms.js';
import {
  fetching,
  fromQueryToKey,
  nothingToShare,
  oneScoreTitle,
  queryAndKey,
  sentenceRemark,
  withGauge,
} from './trainedModel.js';
import { gaugeOf, hasTerms, inputOf, layerOf, modelRemark } from './userModelControls.js';

export { compute, type OneScore } from './oneScoreData.js';

interface PanelKind {
  label: string;
  term: Term;
}

const parts = ['token', 'position', 'segment', 'constant'];

/** The four questions and the rest. */
const fourPanels: PanelKind[] = termKinds;

const sixteenPanels: PanelKind[] = parts.flatMap((queryPart, s) =>
  parts.map((keyPart, r) => {
    const index = s * parts.length + r;
    const term = terms.find((name) => ofSixteen[name].includes(index)) as Term;
    return { label: `${queryPart} → ${keyPart}`, term };
  }),
);

const kindsOf = ({ view }: State): PanelKind[] => (view === 'sixteen' ? sixteenPanels : fourPanels);

const allIncluded = ({ on }: State): boolean => on.length === fourPanels.length;

const values = (panel: Panel, { centred }: State) => (centred ? panel.centred : panel.sum);

/** The share of all maps' values that lies within the ends of their colour scale. */
const shareInScale = 0.99;

export const figure: Figure<typeof controls, OneScore> = {
  name: 'one-score',
  title: oneScoreTitle,
  controls,
  module: 'small',
  source: () => 'trained',
  waiting: fetching,
  tokens: ({ tokens }) => tokens,
  remark: ({ tokens, dropped }) => sentenceRemark(tokens, dropped),

  forModel(model) {
    if (!hasTerms(model)) return undefined;
    const [input, { controls: layer }] = [inputOf(model), layerOf(model)];
    return {
      // A reader's model has three parts, so nine terms, whatever its family adds up.
      fixed: { view: 'four', ...gaugeOf(model), ...input.fixed },
      controls: {
        head: { ...controls.head, label: 'Head', max: (model.heads as number) - 1, initial: 0 },
        ...layer,
        ...input.controls,
      },
      remark: modelRemark(model),
    };
  },

  scene(data, state, width) {
    const kinds = kindsOf(state);
    const { n } = data;
    const sixteen = state.view === 'sixteen';
    const narrow = width < 640;
    const at = arrange(data, state, width);
    const shown = [...data.panels, data.logits].map((panel) => values(panel, state));
    const limit = sizeWithin(shown, shareInScale) || largestMagnitude(shown);
    const strip = stripOf(data.heads, state.head, width);
    const marks: Mark[] = [...strip.marks];
    const regions: Region[] = [...strip.regions];
    kinds.forEach(({ label, term }, place) => {
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
        ...(sixteen ? {} : { subtitle: on ? percent(share) : narrow ? 'off' : 'off: click to add' }),
        term,
        faint: !on,
      });
      marks.push(...drawn.marks, ...edges(drawn.region, at.isFirst(place) ? 'query' : ''));
      regions.push({
        ...drawn.region,
        sets: { on: terms.filter((name) => (name === term ? !on : state.on.includes(name))) },
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
        title: narrow || allIncluded(state) ? 'attention' : 'attention, included',
        array: data.selection.softmax,
        low: 0,
        high: 1,
        scale: 'sequential',
      },
    ] as const;
    results.forEach(({ sign, title, array, low, high, scale }, place) => {
      const area = at.result(place);
      const drawn = map(area, { values: array, rows: n, columns: n, low, high, scale, title });
      const isFirst = narrow ? at.isFirst(kinds.length + place) : place === 0;
      marks.push(...drawn.marks, ...edges(drawn.region, isFirst ? 'query' : ''));
      const { x, y, height } = drawn.region;
      if (!narrow) marks.push(signAt(x - at.between / 2, y + height / 2 + 5, sign));
      regions.push(drawn.region);
    });
    const unit = state.centred ? 'logit minus its row’s mean' : 'logit';
    marks.push(
      ...sharesOf(data, state, at.shares),
      ...colourKey(at.keys.x, at.keys.y, {
        low: -limit,
        high: limit,
        scale: 'diverging',
        // Where long numbers make the key wide, there is room for the name alone.
        label: at.keys.short
          ? `${state.centred ? 'less row mean' : unit}${readable(limit).length > 6 ? '' : ', 99 %'}`
          : `${unit}, 99 % inside`,
        print: readable,
      }),
      ...colourKey(at.keys.x, at.keys.y + keyHeight, {
        low: 0,
        high: 1,
        scale: 'sequential',
        label: at.keys.short ? 'weight' : 'attention weight',
      }),
    );
    return { width, height: at.height, marks, regions } satisfies Scene;
  },

  describe(data, state) {
    if (!Number.isFinite(data.panels[0]?.share ?? Number.NaN)) {
      return nothingToShare(data.n);
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
    return `${head} For this sentence, in the ${state.gauge} gauge, ${first.label} makes up ${aboutPercent(first.share)} of the variation in head ${state.head}’s scores, and ${second.label} ${aboutPercent(second.share)}.${against} The terms add up to the score ${howExactly(data.residual, largestMagnitude([data.logits.sum]))}.`;
  },

  ...fromQueryToKey,

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    if (Number.isNaN(data.logits.centred[cell])) {
      return [...queryAndKey(data.tokens, { i, j }), 'this query does not see this key.'];
    }
    const at = (panel: Panel) => values(panel, state)[cell] ?? Number.NaN;
    const size = Math.min(1, largestMagnitude([values(data.logits, state)]));
    const pieces = kindsOf(state).flatMap(({ label, term }, place): ReadoutPiece[] => [
      {
        text: `${signed(at(data.panels[place] as Panel), size)} ${state.view === 'four' ? label : ''}`,
        term,
      },
      ' ',
    ]);
    return [
      ...queryAndKey(data.tokens, { i, j }),
      ...pieces,
      `= score ${readable(at(data.logits), size)}. Softmax ${
        allIncluded(state) ? '' : 'of the included terms '
      }gives it ${percent(data.selection.softmax[cell] ?? Number.NaN)} of the attention.`,
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
          data.selection.softmax[cell] as number,
        ]);
      }
    }
    const blank = kinds.map(() => '');
    rows.push(['largest |sum of the terms − score|', '', '', '', ...blank, data.residual, '']);
    const table = {
      columns: [
        'query',
        'key',
        'query token',
        'key token',
        ...kinds.map(({ label }) => label),
        'score',
        'attention from included terms',
      ],
      rows,
    };
    return withGauge(table, state.gauge);
  },
};

/** Each term's share of the variation, as bars below their heading. */
function sharesOf({ panels }: OneScore, state: State, area: Area): Mark[] {
  const isNarrow = area.width < 300;
  const list = kindsOf(state).map(({ label, term }, place) => {
    const { share } = panels[place] as Panel;
    return {
      label: isNarrow ? shortened(label, 5) : label,
      value: share,
      text: percent(share),
      ink: term,
      term,
    };
  });
  const shares = list.map(({ value }) => value).filter(Number.isFinite);
  const heading = `Shares${isNarrow ? '' : ' of variation'}, ${state.gauge} gauge`;
  return [
    textAt(area.x, area.y - 12, heading, { ink: 'ink' }),
    ...bars(area, list, Math.min(0, ...shares), Math.max(1, ...shares)),
  ];
}

/**
 * The places of the heads, the terms, their sum and the shares. On a phone the score is the cell after the
 * terms, so that the equation is in sight at once, and the shares stand beside the attention.
 */
function arrange({ heads }: OneScore, state: State, width: number) {
  const sixteen = state.view === 'sixteen';
  const kinds = kindsOf(state).length;
  const narrow = width < 640;
  const room = width - edgeRoom.left;
  const grid = narrow
    ? multiples(room, sixteen ? 56 : 78, sixteen ? 4 : 3, sixteen ? 6 : 10)
    : sixteen
      ? multiples(room, 70, 8, 12)
      : multiples(room, 100, 5);
  const titled = titleHeight(!sixteen);
  const cell = titled + grid.width + edgeRoom.below + 8;
  const top = stripOf(heads, state.head, width).height;
  const cellAt = (place: number, title: number): Area => {
    const { row, x } = grid.at(place);
    const y = top + row * cell + titled - title;
    return { x: edgeRoom.left + x, y, width: grid.width, height: title + grid.width };
  };
  const isFirst = (place: number) => place % grid.columns === 0;
  const below = (cells: number) => top + Math.ceil(cells / grid.columns) * cell;
  const barsHeight = (sixteen ? 13 : narrow ? 24 : 18) * kinds;
  const term = (place: number) => cellAt(place, titled);
  if (narrow) {
    const result = (place: number) => cellAt(kinds + place, titleHeight());
    const at = { short: true, between: 0, term, result, isFirst };
    const keys = { x: 0, y: below(kinds + 2), short: true };
    const under = keys.y + 2 * keyHeight;
    if (sixteen) {
      const shares = { x: 0, y: under + 28, width, height: barsHeight };
      return { ...at, keys, shares, height: shares.y + barsHeight + 4 };
    }
    const { x, y, width: side, height } = result(1);
    const right = x + side + 20;
    const shares = { x: right, y: y + titleHeight(), width: width - right, height: height - titleHeight() };
    return { ...at, keys, shares, height: under + 4 };
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
    isFirst,
    result: (place: number): Area => ({
      x: between + place * (size + between),
      y,
      width: size,
      height: titleHeight() + size,
    }),
    keys,
    shares,
    height: Math.max(y + titleHeight() + size + edgeRoom.below, keys.y + 2 * keyHeight) + 2,
  };
}

/** A bar for each head, divided by the terms' shares of its variation. A click chooses the head. */
function stripOf(heads: number[][], chosen: number, width: number): Scene {
  if (heads.length === 0) return { width, height: 0, marks: [], regions: [] };
  const [top, high, gap] = [20, 40, 6];
  const wide = Math.min(64, (width - gap * (heads.length - 1)) / heads.length);
  const marks: Mark[] = [
    textAt(0, 13, 'Heads, and what each varies by', {
      ink: 'ink',
    }),
    textAt(width, 13, 'click one', { anchor: 'end', live: true }),
  ];
  const regions = heads.map((shares, head): Region => {
    const x = head * (wide + gap);
    let y = top + high;
    shares.forEach((share, kind) => {
      // Negative shares are left out, and a bar stops where the shares add up to one.
      const part = Math.min(y - top, high * Math.max(0, Number.isFinite(share) ? share : 0));
      y -= part;
      const term = terms[kind] as Term;
      marks.push({ mark: 'box', x, y, width: wide, height: part, fill: term, term });
    });
    marks.push(
      textAt(x + wide / 2, top + high + 15, String(head), {
        anchor: 'middle',
        ink: head === chosen ? 'ink' : 'quiet',
      }),
    );
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
  marks.push(boxAt([x - 1, top - 2, wide + 2, high + 4], { stroke: 'ink', wide: 2 }));
  return { width, height: top + high + 28, marks, regions };
}

const keyHeight = 28;

/** “position → position” with its words cut to so many letters. */
const shortened = (label: string, letters: number) =>
  label
    .replaceAll('position', letters > 3 ? 'pos.' : 'pos')
    .replace(/[a-z]+/g, (word) => word.slice(0, letters));

const signAt = (x: number, y: number, text: string): Mark =>
  textAt(x, y, text, { anchor: 'middle', ink: 'ink', size: 15 });

/**
 * The magnitude that this share of the values, from 0 to 1, stays within; undefined without values. Each step
 * of a slider calls it with thousands of values, and native sorting takes a third of the time of d3's
 * `quantile`.
 */
export function sizeWithin(all: readonly ArrayLike<number>[], share: number): number | undefined {
  const sizes = new Float64Array(all.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const values of all) {
    for (let k = 0; k < values.length; k++) {
      const size = Math.abs(values[k] as number);
      if (size >= 0) sizes[count++] = size;
    }
  }
  return quantileSorted(sizes.subarray(0, count).sort() as ArrayLike<number> as number[], share);
}
