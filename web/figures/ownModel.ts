// Figures of a model that the reader opened: those of MiniLM on its numbers, and without words about MiniLM.
import type { FamilyId, OpenedModel } from 'superpose';
import type { Control } from './controls.js';
import { figure as depth } from './depth.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure } from './figure.js';
import { figure as heads } from './heads.js';
import { figure as needsPositions } from './needsPositions.js';
import { type OneScore, figure as oneScore } from './oneScore.js';
import { figure as overlap } from './overlap.js';
import { as, inFile } from './ownFigure.js';
import { termLabels, terms } from './terms.js';
import {
  gaugeControl,
  headControl,
  layersControl,
  mostTokens,
  queryAndKey,
  sentenceControl,
} from './trainedModel.js';

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
  | 'files'
  | 'bytes'
  | 'layers'
  | 'positions'
> & {
  /** Identifies its file in links. */
  digest: string;
};

/** A chosen file, and where it is among the others: a file on its way to a worker may lose that. */
export interface ChosenFile {
  path: string;
  file: File;
}

/**
 * A question to the worker: files to open, a corpus to average over or, if empty, to let go of what is open.
 */
export interface OwnQuestion {
  files?: readonly ChosenFile[];
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

const unverified = 'This file was not verified against a reference: terms add up even if it is misread.';

/** The figures by name, for links to this file alone. */
const ofFile = ({ digest, name }: Opened, made: readonly AnyFigure[]): Record<string, AnyFigure> =>
  Object.fromEntries(made.map((figure) => [figure.name, inFile(figure, digest, name)]));

/** The figures of a model, by name; those about scores only if it has scores that can be taken apart. */
export function ownFigures(model: Opened): Record<string, AnyFigure> {
  // Models whose queries and keys turn add no table of positions.
  if (!model.summands.includes('position')) return {};
  const ofTables = [overlapOf(model), productsOf(model)];
  if (model.heads === undefined || model.epsilon === undefined) return ofFile(model, ofTables);
  const gauge = { ...gaugeControl, more: true } as const;
  return ofFile(model, [
    ...ofTables,
    headsOf(model, { controls: { gauge, ...layerOf(model) }, fixed: {}, said: unverified }),
    oneScoreOf(model, { controls: { gauge }, fixed: {}, said: unverified }),
    // The corpus of this figure is text.
    ...(model.layers > 0 && model.readsText ? [depthOf(model)] : []),
    ...(model.layers > 0 ? [needsPositionsOf(model)] : []),
  ]);
}

/** What the worker says when a model’s queries and keys are averaged over a corpus. */
export interface Averaged {
  windows: number;
}

/** The figures, by name, of an averaged model that adds no table of positions: its scores by what they ask. */
export function averagedFigures(model: Opened, { windows }: Averaged): Record<string, AnyFigure> {
  const controls = layerOf(model);
  const fixed = { gauge: 'corpus-mean' };
  const said = `By mechanism: the gauge is the means of queries and keys over ${windows} windows of a corpus, and token → token by the distance counts as token → token. ${unverified}`;
  const title = `${model.name}: where position goes`;
  return ofFile(model, [
    headsOf(model, { controls, fixed, said }),
    oneScoreOf(model, { controls, fixed, said }),
    as(depth, 'own-depth', title, inputOf(model), { layers: 'all' }, said),
  ]);
}

const overlapOf = ({ name }: Opened): AnyFigure =>
  as(
    overlap,
    'own-overlap',
    `${name}: how much tokens and positions overlap`,
    {},
    { of: 'tables', tables: 'seeded' },
    unverified,
  );

function productsOf(model: Opened): AnyFigure {
  const { positions, scale, seed } = dotProducts.controls;
  const own = { ...positions.options, learned: 'The model’s own' };
  return as(
    dotProducts,
    'own-dot-products',
    `${model.name}: adding versus concatenating, in dot products`,
    { positions: { ...positions, options: own, initial: 'learned' }, scale, seed, ...inputOf(model) },
    { tokens: 'sentence' },
    unverified,
  );
}

/** How scores are taken apart: what of that can be set, what is fixed, and what is said of it. */
interface TakenApart {
  controls: Record<string, Control>;
  fixed: object;
  said: string;
}

const headsOf = (model: Opened, { controls, fixed, said }: TakenApart): AnyFigure =>
  as(
    heads,
    'own-heads',
    `${model.name}: what drives each head`,
    { ...controls, ...inputOf(model) },
    { ...fixed, sentences: 'yours' },
    said,
  );

const oneScoreOf = (model: Opened, { controls, fixed, said }: TakenApart): AnyFigure =>
  as(
    ofSeenKeys,
    'own-one-score',
    `${model.name}: one score, and the questions it asks`,
    {
      head: { ...headControl, label: 'Head', max: (model.heads as number) - 1, initial: 0 },
      ...controls,
      centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
      on: { kind: 'several', label: 'Terms included', options: termLabels, initial: terms },
      ...inputOf(model),
    },
    { ...fixed, view: 'four' },
    said,
  );

/** Of a model that adds positions: which of its layers are read. */
const layersOf = ({ name, layers, bytes }: Opened) => ({
  ...layersControl,
  label: `Layers of ${name}`,
  options: {
    none: 'Before the first',
    all: `All ${layers} (reads them, ${(bytes / 1e6).toFixed(1)} MB with the tables)`,
  },
});

const depthOf = (model: Opened): AnyFigure =>
  as(
    readersOwn(depth),
    'own-depth',
    `${model.name}: where position goes`,
    { layers: layersOf(model), text: sentenceControl },
    {},
    unverified,
  );

function needsPositionsOf(model: Opened): AnyFigure {
  const { pair, other, shift, seed } = needsPositions.controls;
  const room = model.positions - Math.min(mostTokens, model.positions / 2);
  const values = shift.values.filter((by) => by <= room);
  const two: Record<string, Control> = model.readsText
    ? { pair, text: sentenceControl, other }
    : { ...inputOf(model), otherIds: idsOf(model, 'Ids of another', '5, 4, 3, 2') };
  return as(
    readersOwn(needsPositions),
    'own-needs-positions',
    `${model.name}: does it need positions?`,
    {
      layers: layersOf(model),
      ...two,
      shift: { ...shift, values, initial: values.includes(64) ? 64 : 1 },
      seed,
    },
    {},
    unverified,
  );
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
const inputOf = (model: Opened): Record<string, Control> =>
  model.readsText ? { text: sentenceControl } : { ids: idsOf(model, 'Token ids', '2, 3, 4, 5') };

/** The number of its layer, where there are several. */
const layerOf = ({ layers }: Opened): Record<string, Control> =>
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
const ofSeenKeys: AnyFigure = {
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
