// Figures of a reader's model that need means of its queries and keys over a corpus: the scores of a model that adds no
// table of positions, by what they ask.
import { figure as depth } from './depth.js';
import type { AnyFigure } from './figure.js';
import { figure as heads } from './heads.js';
import { as, inFile } from './ownFigure.js';
import { inputOf, layerOf, type Opened, ofSeenKeys, unverified } from './ownModel.js';
import { headControl } from './sentence.js';
import { termLabels, terms } from './terms.js';

/** What the worker says when a model’s queries and keys are averaged. */
export interface Averaged {
  windows: number;
}

/** The figures by name. */
export function mechanismFigures(model: Opened, { windows }: Averaged): Record<string, AnyFigure> {
  const { name, digest } = model;
  const input = inputOf(model);
  const fixed = { gauge: 'corpus-mean' };
  const head = { ...headControl, label: 'Head', max: (model.heads as number) - 1, initial: 0 };
  const said = `By mechanism: the gauge is the means of queries and keys over ${windows} windows of a corpus, and token → token by the distance counts as token → token. ${unverified}`;
  const made = [
    as(
      heads,
      'own-heads',
      `${name}: what drives each head`,
      { ...layerOf(model), ...input },
      { ...fixed, sentences: 'yours' },
      said,
    ),
    as(
      ofSeenKeys,
      'own-one-score',
      `${name}: one score, and the questions it asks`,
      {
        ...layerOf(model),
        head,
        centred: { kind: 'toggle', more: true, label: 'Centre each row', initial: true },
        on: { kind: 'several', label: 'Terms included', options: termLabels, initial: terms },
        ...input,
      },
      { ...fixed, view: 'four', weights: 'trained' },
      said,
    ),
    as(depth, 'own-depth', `${name}: where position goes`, input, { layers: 'all', of: 'scores' }, said),
  ];
  return Object.fromEntries(made.map((figure) => [figure.name, inFile(figure, digest, name)]));
}
