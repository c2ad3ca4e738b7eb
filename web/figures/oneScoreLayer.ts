// The layer and the rows behind the figure "one-score", and its scores taken apart.
import type { Scores, SmallSuperpose, Table } from 'superpose';
import { drawnRows, positionRows, rowName } from './drawnRows.js';
import type { Library } from './figure.js';
import { apartOf } from './gaugeControl.js';
import { sharedOut } from './heads.js';
import type { State, Tables } from './oneScoreSettings.js';
import { drawnLayer, drawnSegment, type Layer, type LayerSummands } from './seededLayer.js';
import { mostTokens } from './sentence.js';
import { groups } from './terms.js';

/** What is taken apart: rows that are added up, and the layer that reads them. */
interface SentenceLayer {
  tokens: readonly string[];
  dropped: number;
  summands: LayerSummands;
  layer: Layer;
}

const doubles = ({ data, rows, columns }: Table): Table<Float64Array> => ({
  data: Float64Array.from(data),
  rows,
  columns,
});

const positionsOf = (
  library: Library,
  superpose: SmallSuperpose,
  { positions, seed }: State,
  n: number,
  d_model: number,
): Table<Float64Array> =>
  doubles(
    positionRows(library, superpose, positions === 'own' ? 'interleaved' : positions, n, d_model, seed),
  );

async function given(library: Library, state: State): Promise<SentenceLayer> {
  const superpose = await library.small();
  const { weights, text, heads, layer, weightSeed, seed } = state;
  const drawn = (d: number) => ({ d, heads, seed: weightSeed, bare: layer === 'bare' });
  if (weights === 'seeded') {
    const token = drawnRows(library, superpose, 'token', { rows: state.n, columns: state.d, seed });
    const { rows: n, columns: d } = token;
    const position = positionsOf(library, superpose, state, n, d);
    return {
      tokens: Array.from({ length: n }, (_, place) => rowName(library, place)),
      dropped: 0,
      summands: {
        token: doubles(token),
        position,
        token_type: drawnSegment(superpose, n, drawn(d)),
      },
      layer: drawnLayer(library, superpose, drawn(d)),
    };
  }
  const model = await library.miniLM();
  const sentence = await model.tokenize(text, mostTokens);
  const { tokens, dropped } = sentence;
  const summands = await model.rows(sentence);
  const { rows: n, columns: d } = summands.token;
  const options = drawn(d);
  return {
    tokens,
    dropped,
    summands: {
      ...summands,
      ...(state.positions !== 'own' && {
        position: positionsOf(library, superpose, state, n, d),
      }),
      ...(weights === 'mixed' && options.bare && { token_type: drawnSegment(superpose, n, options) }),
    },
    layer: weights === 'trained' ? await model.layer() : drawnLayer(library, superpose, options),
  };
}

interface SplitScores extends Omit<SentenceLayer, 'layer'> {
  scores: Scores<Float64Array>;
}

/** Switching a term off and on must not take the scores apart again, nor choosing a head all heads. */
export async function takeApart(
  library: Library,
  state: State,
): Promise<{ taken: SplitScores; heads: number[][] }> {
  const superpose = await library.small();
  const { weights, text, gauge, n, d, heads: count, seed, weightSeed, positions, scale, layer: kind } = state;
  const ofWeights = weights === 'trained' ? [] : [count, weightSeed, kind];
  const key = [library.own?.key, weights, gauge, positions, scale, seed, ofWeights];
  key.push(weights === 'seeded' ? [n, d] : text);
  const { how, layer, ...said } = await library.kept('one-score: rows', key, async () => {
    const { summands, ...other } = await given(library, state);
    const { token, position, token_type } = summands;
    const scaled = superpose.bertEmbeddings({ token, position, positionScale: scale }).summands;
    const apart = apartOf(gauge, weights === 'seeded' ? 'seeded' : 'trained');
    return { ...other, how: { summands: { token, position: scaled.position, token_type }, gauge, apart } };
  });
  // Packed once: ρ, the positions and the gauge move no weight.
  const held = library.kept('one-score: layer', [ofWeights, layer.query.weight.columns], () =>
    superpose.layer(layer),
  );
  const taken = library.kept('one-score: head', [state.head, key], () => {
    const scores = held.decompose({ ...how, only: [state.head] });
    return { ...said, summands: how.summands, scores };
  });
  const heads = library.kept('one-score: heads', key, () =>
    // Of the rows for each head, the mean and all pooled, the heads'.
    sharedOut(superpose, [held.decompose({ ...how, groups })])
      .slice(0, -2)
      .map(({ shares }) => shares),
  );
  return { taken, heads };
}

export function tablesOf(superpose: SmallSuperpose, { token, position }: LayerSummands): Tables {
  const { sum } = superpose.bertEmbeddings({ token, position });
  const { concatenated, added, correlation } = superpose.dotProducts({ token, position });
  return {
    d: token.columns,
    rows: { token: token.data, position: position.data, sum: sum.data },
    products: { concatenated, added },
    correlation,
  };
}
