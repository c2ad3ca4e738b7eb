// Figure "Adding versus concatenating": makes the two tables and asks for their dot products.
import type { Superpose, Table } from 'superpose';
import { type DotProductsAnswer, type DotProductsRequest, mostTokens } from './protocol.js';
import type { Library } from './worker.js';

const precision = 'float32';
// Streams of one seed, so that more positions do not change the tokens.
const streams = { token: 0, position: 1 };

export async function dotProducts(library: Library, request: DotProductsRequest): Promise<DotProductsAnswer> {
  const superpose = await library.superpose();
  const { token, position, tokens, dropped } =
    request.source === 'seeded' ? seeded(superpose, request) : await fromModel(library, request);
  const products = superpose.dotProducts({ token, position, positionScale: request.positionScale });
  return { ...products, n: token.rows, d_model: token.columns, tokens, dropped };
}

function seeded(superpose: Superpose, { n, d_model, encoding, seed }: DotProductsRequest) {
  const token = superpose.randomNormal({ rows: n, columns: d_model, seed, stream: streams.token, precision });
  const tokens = Array.from({ length: n }, (_, place) => `token ${place}`);
  return { token, position: positions(superpose, encoding, n, d_model, seed), tokens, dropped: 0 };
}

async function fromModel(library: Library, { text, encoding, seed }: DotProductsRequest) {
  const superpose = await library.superpose();
  const model = await library.miniLM();
  const sentence = model.tokenize(text, mostTokens);
  const { token, position } = await model.summands(sentence, precision);
  return {
    token,
    position:
      encoding === 'learned' ? position : positions(superpose, encoding, token.rows, model.d_model, seed),
    tokens: [...sentence.tokens],
    dropped: sentence.dropped,
  };
}

function positions(
  superpose: Superpose,
  encoding: DotProductsRequest['encoding'],
  n: number,
  d_model: number,
  seed: number,
): Table<Float32Array> {
  if (encoding === 'random' || encoding === 'learned') {
    // Of the same squared length as a sinusoidal row, d/2, so that encodings can be compared.
    return superpose.randomNormal({
      rows: n,
      columns: d_model,
      standardDeviation: Math.SQRT1_2,
      seed,
      stream: streams.position,
      precision,
    });
  }
  return superpose.sinusoidal({
    positions: n,
    d_model,
    layout: encoding,
    spacing: encoding === 'interleaved' ? 'd_model' : 'timescales',
    precision,
  });
}
