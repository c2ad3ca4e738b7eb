// The methods of everything that the library returns, and the package's own functions, each with a right
// call that has every option: the tests of wrong arguments and of unknown options start from them, as they
// start from rightCalls.ts for the functions of a module.
import { fileURLToPath } from 'node:url';
import * as library from 'add-or-concatenate';
import { drawnLayer } from '../model/tinyMinilm.ts';
import { plain } from './builds.ts';
import { linear, scores, table } from './rightCalls.ts';

export interface MethodCalls {
  /** What the object is. */
  kind: string;
  object: object;
  /** Right arguments of each of its methods. */
  calls: Record<string, readonly unknown[]>;
}

/** Makes one object of each kind. */
export async function methodCalls(): Promise<MethodCalls[]> {
  const folder = fileURLToPath(new URL('../../reference/checkpoints/bert', import.meta.url));
  const sentence = { ids: [1, 2, 3], tokens: ['a', 'b', 'c'], dropped: 0 };
  const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
  const summands = { token: table(3, 4) };
  const ways = { way: 'direct', only: [0], excludedRows: [], gauge: 'raw' };
  const waiting = { signal: undefined, progress: undefined };

  const model = await library.openModel(plain, folder);
  const means = await model.corpusMeans({ sentences: Array(30).fill(sentence) });
  const state = means.states[0];
  const layer = plain.layer({ query: linear(4, 4), key: linear(4, 4), heads: 2 });
  const stack = plain.transformerStack({ d_model: 4, heads: 2 });
  const added = drawnLayer(4, 6, 1);
  await stack.addLayer(added);
  const forward = await stack.forward(summands);
  const trainer = plain.trainer({ evaluation: batch, vocabulary: 3, classes: 3, d_model: 4, heads: 2 });
  const search = plain.collisionSearch({ tokens: table(7, 4), positions: table(3, 4) });
  const ofScheme = plain.schemeScores({ scheme: 'none', content: table(3, 4), heads: 1 });
  const { Unreadable, FamilyUnknown, ...functions } = library;
  return [
    {
      kind: 'function',
      object: functions,
      calls: {
        load: [{ simd: 'plain', module: 'small', wasm: { full: 'a', small: 'b' } }],
        loadMiniLM: [plain, { from: 'a', rest: undefined, read: undefined }],
        openModel: [plain, folder, { family: 'bert', heads: 2, epsilon: 1, ...waiting }],
        openTable: [plain, folder, { rows: 1, tensor: 'a', header: true, separator: ',', ...waiting }],
        logitsOf: [scores, 1],
        sharesOf: [scores, 1],
        termOf: [scores, 1, 'token', 'position'],
        schemeTermOf: [ofScheme, 0, 'content-content'],
        supportedSimd: [],
        wasmAddress: ['plain', 'small'],
      },
    },
    {
      kind: 'model',
      object: model,
      calls: {
        report: [waiting],
        decompose: [sentence, { layer: 0, means, ...ways, ...waiting }],
        forward: [sentence, { layers: 1, attention: {}, ...waiting }],
        corpusMeans: [{ sentences: [sentence], scores: true, ...waiting }],
        withoutPositions: [sentence, waiting],
        rows: [sentence],
        changed: [sentence, { shift: 1 }],
        digest: [],
        tokenize: ['a'],
        pieces: [[1, 2]],
        layer: [],
      },
    },
    {
      kind: 'layer',
      object: layer,
      calls: { decompose: [{ summands, only: [0], gauge: 'raw', excludedRows: [] }], isAlive: [] },
    },
    {
      kind: 'transformerStack',
      object: stack,
      calls: { addLayer: [added], forward: [summands, { layers: 1 }], isAlive: [] },
    },
    {
      kind: 'forward',
      object: forward,
      calls: {
        decompose: [
          { layer: 0, means: { ...state, position: { ...state?.position } }, ...ways, way: 'mean' },
        ],
        state: [1],
        last: [],
        logits: [0],
        attention: [0],
      },
    },
    {
      kind: 'trainer',
      object: trainer,
      calls: {
        step: [batch],
        evaluate: [batch],
        logits: [batch],
        attention: [{ ...batch, layer: 0 }],
        shares: [{ gauge: 'raw' }],
        setParameters: [trainer.parameters()],
        parameters: [],
        cutTerms: [['token-token']],
        loudness: [],
        overlap: [],
        directions: [],
        coordinates: [table(2, 4)],
        isAlive: [],
      },
    },
    {
      kind: 'search',
      object: search,
      calls: { allWords: [{ slice: 1, words: 1 }], nearestTokens: [0, 2], isAlive: [] },
    },
  ];
}
