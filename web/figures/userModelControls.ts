// What figures that can take a reader's own model have in common: what they need of it, and what can be set.
import type { Control, State } from './controls.js';
import { layersControl } from './trainedModel.js';
import type { UserModel } from './userFile.js';

/** Whether the model adds a table of positions; models that rotate queries and keys do not. */
export const hasPositionTable = ({ summands }: UserModel) => summands.includes('position');

/**
 * Whether its scores can be taken apart: by its tables or, after it was averaged over a corpus, by
 * mechanism.
 */
export const hasTerms = (model: UserModel) =>
  model.windows !== undefined ||
  (hasPositionTable(model) && model.heads !== undefined && model.epsilon !== undefined);

export const unverified =
  'This file was not verified against a reference: terms add up even if it is misread.';

export const modelRemark = ({ windows }: UserModel) =>
  windows === undefined
    ? unverified
    : `By mechanism: the gauge is the means of queries and keys over ${windows} windows of a corpus, and token → token by the distance counts as token → token. ${unverified}`;

/** Ids of tokens, for a model without a tokenizer. */
export const idsControl = ({ vocabulary }: UserModel, label: string, initial: string) =>
  ({
    kind: 'text',
    shared: true,
    // Short enough for a narrow phone.
    label: `${label}, 0 to ${vocabulary - 1}, with commas`,
    initial,
    longest: 2000,
  }) as const;

interface Changes {
  fixed: State;
  controls: Record<string, Control>;
}

/** A model without a tokenizer is given ids in place of the text. */
export const inputOf = (model: UserModel): Changes =>
  model.readsText
    ? { fixed: {}, controls: {} }
    : { fixed: { text: '' }, controls: { ids: idsControl(model, 'Token ids', '2, 3, 4, 5') } };

/** A control for the layer, if there are several. */
export function layerOf({ layers }: UserModel): Changes {
  if (layers < 2) return { fixed: { layer: 0 }, controls: {} };
  const values = Array.from({ length: layers }, (_, layer) => layer);
  return {
    fixed: {},
    controls: { layer: { kind: 'steps', more: true, label: 'Layer', values, initial: 0 } },
  };
}

/** Shares by mechanism have a single gauge: the means over the corpus. */
export const gaugeOf = ({ windows }: UserModel): State =>
  windows === undefined ? {} : { gauge: 'corpus-mean' };

/** A control for which of the layers are read. */
export const layersOf = ({ name, layers, bytes }: UserModel): Control => ({
  ...layersControl,
  label: `Layers of ${name}`,
  options: {
    none: 'Before the first',
    all: `All ${layers} (reads them, ${(bytes / 1e6).toFixed(1)} MB with the tables)`,
  },
});
