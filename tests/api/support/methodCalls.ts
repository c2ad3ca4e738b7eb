// The methods of everything that the library returns, and the package's own functions, with right calls that have every
// option: the tests of wrong arguments and of unknown options start from them, as they start from rightCalls.ts for the
// functions of a module.
import { fileURLToPath } from 'node:url';
import * as library from 'superpose';
import { drawnLayer } from '../model/tinyMinilm.ts';
import { plain } from './builds.ts';
import { linear, table } from './rightCalls.ts';

export interface MethodCalls {
  /** What the object is. */
  kind: keyof typeof withoutOptions;
  object: object;
  /** Right arguments of the methods that take options. */
  calls: Record<string, unknown[]>;
}

/** Right calls, with all their options, of the methods of handles and models and of the package's own functions. */
export async function methodCalls(): Promise<MethodCalls[]> {
  const folder = fileURLToPath(new URL('../../reference/checkpoints/bert', import.meta.url));
  const sentence = { ids: [1, 2, 3], tokens: ['a', 'b', 'c'], dropped: 0 };
  const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
  const model = await library.openModel(plain, folder);
  const means = await model.corpusMeans({ sentences: Array(30).fill(sentence) });
  const summands = { token: table(3, 4) };
  const stack = plain.transformerStack({ d_model: 4, heads: 2 });
  const added = drawnLayer(4, 6, 1);
  await stack.addLayer(added);
  const forward = await stack.forward(summands);
  const ways = { way: 'direct', only: [0], excludedRows: [], gauge: 'raw' };
  const waiting = { signal: undefined, progress: undefined };
  const state = means.states[0];
  const trainer = plain.trainer({ evaluation: batch, vocabulary: 3, classes: 3, d_model: 4, heads: 2 });
  const { Unreadable, FamilyUnknown, ...functions } = library;
  const ofFunctions = {
    load: [{ simd: 'plain', module: 'small', wasm: { whole: 'a', small: 'b' } }],
    loadMiniLM: [plain, { from: 'a', rest: undefined, read: undefined }],
    openModel: [plain, folder, { family: 'bert', heads: 2, epsilon: 1, ...waiting }],
    openTable: [plain, folder, { rows: 1, tensor: 'a', header: true, separator: ',', ...waiting }],
  };
  const ofModel = {
    report: [waiting],
    decompose: [sentence, { layer: 0, means, ...ways, ...waiting }],
    forward: [sentence, { layers: 1, attention: {}, ...waiting }],
    corpusMeans: [{ sentences: [sentence], scores: true, ...waiting }],
    withoutPositions: [sentence, waiting],
    rows: [sentence],
    changed: [sentence, { shift: 1 }],
  };
  const ofForward = {
    decompose: [{ layer: 0, means: { ...state, position: { ...state?.position } }, ...ways, way: 'mean' }],
  };
  const ofTrainer = {
    step: [batch],
    evaluate: [batch],
    logits: [batch],
    attention: [{ ...batch, layer: 0 }],
    shares: [{ gauge: 'raw' }],
    setParameters: [trainer.parameters()],
  };
  const search = plain.collisionSearch({ tokens: table(7, 4), positions: table(3, 4) });
  return [
    { kind: 'function', object: functions, calls: ofFunctions },
    { kind: 'model', object: model, calls: ofModel },
    {
      kind: 'layer',
      object: plain.layer({ query: linear(4, 4), key: linear(4, 4), heads: 2 }),
      calls: layerCalls(summands),
    },
    {
      kind: 'transformerStack',
      object: stack,
      calls: { addLayer: [added], forward: [summands, { layers: 1 }] },
    },
    { kind: 'forward', object: forward, calls: ofForward },
    { kind: 'trainer', object: trainer, calls: ofTrainer },
    { kind: 'search', object: search, calls: { allWords: [{ slice: 1, words: 1 }] } },
  ];
}

const layerCalls = (summands: object) => ({
  decompose: [{ summands, only: [0], gauge: 'raw', excludedRows: [] }],
});

/** The methods that take no options, by kind. A method that is neither here nor in methodCalls() fails a test. */
export const withoutOptions = {
  function:
    'anovaTerms corpusSentences familyIds familyNames modelFamilies pairTerms logitsOf schemeTermOf sharesOf supportedSimd termOf wasmAddress',
  model: 'digest tokenize pieces layer',
  layer: 'isAlive',
  transformerStack: 'isAlive',
  forward: 'state last logits attention',
  trainer: 'isAlive cutTerms loudness overlap directions coordinates parameters',
  search: 'isAlive nearestTokens',
};
