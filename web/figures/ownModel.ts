// Figures of a model that the reader opened: those of MiniLM on its numbers, and without words about MiniLM.
import type { FamilyId, OpenedModel } from 'superpose';
import { aboutPercent, readable, signed } from '../plot/format.js';
import { colourKey, largestMagnitude, map } from '../plot/parts.js';
import type { Control } from './controls.js';
import { figure as depth } from './depth.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure, Figure } from './figure.js';
import { gaugeControl, rawRows } from './gaugeControl.js';
import { figure as heads } from './heads.js';
import { layersControl } from './layersControl.js';
import { figure as needsPositions } from './needsPositions.js';
import { figure as oneScore } from './oneScore.js';
import type { OneScore } from './oneScoreSettings.js';
import { figure as overlap } from './overlap.js';
import { as, inFile } from './ownFigure.js';
import { queryAndKey } from './pairs.js';
import { headControl, mostTokens, sentenceControl } from './sentence.js';
import { termLabels, terms } from './terms.js';

/** What the page knows about the model. */
export type Opened = Pick<
  OpenedModel,
  | 'name'
  | 'about'
  | 'family'
  | 'heads'
  | 'epsilon'
  | 'summands'
  | 'readsText'
  | 'vocabulary'
  | 'bytes'
  | 'layers'
  | 'positions'
> & {
  /** Identifies its file in links. */
  digest: string;
};

/**
 * A question to the worker: files to open, a corpus to average over or, if empty, to let go of what is open.
 */
export interface OwnQuestion {
  files?: readonly File[];
  family?: FamilyId;
  heads?: number;
  epsilon?: number;
  /** Sentences of ids, a line each; empty for the library’s own. */
  corpus?: string;
}

/** The answer where nothing says which model a file holds: what it may be. */
export interface FamilyAsked {
  families: readonly FamilyId[];
}

/** Settings of its figures. */
export interface OwnState {
  gauge: 'canonical' | 'raw';
  layer?: number;
  head: number;
  on: readonly string[];
  text: string;
  ids: string;
}

export interface GramData {
  gram: Record<'raw' | 'centred', Float64Array>;
  rows: Record<'raw' | 'centred', number>;
  /** The share of the products' variation that depends on the distance alone. */
  shares: Record<'raw' | 'centred', number>;
}

export const unverified =
  'This file was not verified against a reference: terms add up even if it is misread.';

/** The figures of a model, by name; those about scores only if it has scores that can be taken apart. */
export function ownFigures(model: Opened): Record<string, AnyFigure> {
  const { name } = model;
  const made: Record<string, AnyFigure> = {};
  const add = (figure: AnyFigure) => {
    made[figure.name] = inFile(figure, model.digest, name);
  };
  // Models whose queries and keys turn add no table of positions.
  if (model.summands.includes('position')) {
    add({ ...gram, title: `${name}: positions’ dot products with one another` });
    add(
      as(
        overlap,
        'own-overlap',
        `${name}: how much tokens and positions overlap`,
        {},
        { of: 'tables', tables: 'seeded' },
        unverified,
      ),
    );
  }
  const input = inputOf(model);
  if (model.summands.includes('position')) {
    const { positions, scale, seed } = dotProducts.controls;
    const own = { ...positions.options, learned: 'The model’s own' };
    add(
      as(
        dotProducts,
        'own-dot-products',
        `${name}: adding versus concatenating, in dot products`,
        { positions: { ...positions, options: own, initial: 'learned' }, scale, seed, ...input },
        { tokens: 'sentence' },
        unverified,
      ),
    );
  }
  if (!model.summands.includes('position') || model.heads === undefined || model.epsilon === undefined)
    return made;
  const gauge = { ...gaugeControl, more: true } as const;
  add(
    as(
      heads,
      'own-heads',
      `${name}: what drives each head`,
      { gauge, ...layerOf(model), ...input },
      { sentences: 'yours' },
      unverified,
    ),
  );
  add(
    as(
      ofSeenKeys,
      'own-one-score',
      `${name}: one score, and the questions it asks`,
      {
        head: { ...headControl, max: model.heads - 1, initial: 0 },
        gauge,
        centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
        on: { kind: 'several', label: 'Terms included', options: termLabels, initial: terms },
        ...input,
      },
      { view: 'four', weights: 'trained' },
      unverified,
    ),
  );
  if (model.layers === 0) return made;
  const layers = {
    ...layersControl,
    label: `Layers of ${name}`,
    options: {
      none: 'Before the first',
      all: `All ${model.layers} (reads them, ${(model.bytes / 1e6).toFixed(1)} MB with the tables)`,
    },
  };
  // The corpus of this figure is text.
  if (model.readsText)
    add(
      as(
        readersOwn(depth),
        'own-depth',
        `${name}: where position goes`,
        { layers, text: sentenceControl },
        {},
        unverified,
      ),
    );
  const { pair, other, shift, seed } = needsPositions.controls;
  const room = model.positions - Math.min(mostTokens, model.positions / 2);
  const values = shift.values.filter((by) => by <= room);
  const two: Record<string, Control> = model.readsText
    ? { pair, text: sentenceControl, other }
    : { ...input, otherIds: idsOf(model, 'Ids of another', '5, 4, 3, 2') };
  add(
    as(
      readersOwn(needsPositions),
      'own-needs-positions',
      `${name}: does it need positions?`,
      { layers, ...two, shift: { ...shift, values, initial: values.includes(64) ? 64 : 1 }, seed },
      {},
      unverified,
    ),
  );
  return made;
}

const idsOf = ({ vocabulary }: Opened, label: string, initial: string) =>
  ({
    kind: 'text',
    // As short as a phone is narrow.
    label: `${label}, 0 to ${vocabulary - 1}, with commas`,
    initial,
    longest: 2000,
  }) as const;

/** What its figures are about: a sentence, or ids where no tokenizer cuts one. */
export const inputOf = (model: Opened): Record<string, Control> =>
  model.readsText ? { text: sentenceControl } : { ids: idsOf(model, 'Token ids', '2, 3, 4, 5') };

/** The number of its layer, where there are several. */
export const layerOf = ({ layers }: Opened): Record<string, Control> =>
  layers > 1
    ? {
        layer: {
          kind: 'steps',
          more: true,
          label: 'Layer',
          values: Array.from({ length: layers }, (_, place) => place),
          initial: 0,
        },
      }
    : {};

/** Keys that a query does not see have no score. */
export const ofSeenKeys: AnyFigure = {
  ...oneScore,
  readout: (data: OneScore, state, { i, j }) =>
    Number.isNaN(data.logits.centred[i * data.n + j])
      ? [...queryAndKey(data.tokens, { i, j }), 'this query does not see this key.']
      : oneScore.readout(data, state, { i, j }),
};

/** Nothing of it was computed beforehand, so its inputs are there from the start. */
const readersOwn = <F extends AnyFigure>(figure: F): F => ({
  ...figure,
  unused: (state) => figure.unused?.({ ...state, layers: 'all' }) ?? [],
});

const gramControls = {
  mean: {
    kind: 'choice',
    label: 'Position rows',
    options: { centred: 'Less their mean', raw: 'Raw, as they come' },
    initial: 'centred',
    radio: true,
  },
} as const;

const gram: Figure<typeof gramControls, GramData> = {
  name: 'own-gram',
  title: '',
  controls: gramControls,
  source: () => 'trained',
  waiting: 'Reading the model’s file…',
  scene({ gram, rows }, { mean }, width) {
    const side = Math.min(width, 420);
    const limit = largestMagnitude([gram[mean]]);
    const scale = { low: -limit, high: limit, scale: 'diverging' } as const;
    const drawn = map(
      { x: 0, y: 0, width: side, height: side + 24 },
      {
        values: gram[mean],
        rows: rows[mean],
        columns: rows[mean],
        ...scale,
        title: 'Position down, position across',
      },
    );
    return {
      width,
      height: side + 76,
      marks: [
        ...drawn.marks,
        ...colourKey(0, side + 34, { ...scale, label: 'dot product', print: readable }),
      ],
      regions: [drawn.region],
    };
  },
  describe({ rows, shares }, { mean }) {
    const read = `${rows.raw} rows of the position table are shown${mean === 'centred' && rows.centred < rows.raw ? `, less ${rows.raw - rows.centred} that always ${rows.raw - rows.centred === 1 ? 'holds' : 'hold'} the same token` : ''}.`;
    return `${read} Of what their dot products vary by, ${aboutPercent(shares[mean])} depends on the distance alone.${mean === 'raw' ? rawRows : ''}`;
  },
  cells: ({ rows }, { mean }) => ({ rows: rows[mean], columns: rows[mean] }),
  readout: ({ gram, rows }, { mean }, { i, j }) => [
    `Row ${i} with row ${j}: `,
    { text: signed(gram[mean][i * rows[mean] + j] ?? Number.NaN), strong: true },
    '.',
  ],
  remark: () => unverified,
  table: ({ gram, rows }, { mean }) => ({
    columns: ['row', 'with row', 'dot product'],
    rows: Array.from(gram[mean], (value, cell) => [Math.floor(cell / rows[mean]), cell % rows[mean], value]),
  }),
};
