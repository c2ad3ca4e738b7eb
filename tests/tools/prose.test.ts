// Numbers in prose: each sentence of the answer, the beats and the verdicts against the figure that its link
// opens, and each sentence of the article against the figure or the call that its numbers come from. A
// sentence without a number is not quoted here, but what it claims is computed all the same.
import { readFileSync } from 'node:fs';
import { anovaTerms, load, loadMiniLM } from 'add-or-concatenate';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { answer } from '../../web/build/answer.ts';
import { beats } from '../../web/build/beats.ts';
import { pageFolders, sourceOf } from '../../web/build/places.ts';
import { published } from '../../web/build/published.ts';
import { type FigureState, linkOf, plainText, verdicts } from '../../web/build/verdicts.ts';
import * as collisions from '../../web/figures/collisions.ts';
import * as dotProducts from '../../web/figures/dotProducts.ts';
import * as heads from '../../web/figures/heads.ts';
import * as overlap from '../../web/figures/overlap.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { headless, rendered } from '../figures/rendered.ts';
import { run } from '../figures/support.ts';
import minilmSums from '../reference/minilm_sums.json' with { type: 'json' };

const withModel = inject('withModel');
const flat = (text: string) => text.replace(/\s+/g, ' ');
const page = flat(
  pageFolders
    .map(sourceOf)
    .join(' ')
    .replace(/<[^>]*>/g, ''),
).concat(beats.flatMap(({ steps }) => steps.map(({ text }) => text)).join(' '));
const evidence = flat(readFileSync(new URL('../../docs/evidence.md', import.meta.url), 'utf8'));
/** Expects the page to say this, so that its words change only together with the check beside them. */
const expectOnPage = (sentence: string) => expect(page).toContain(sentence);

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

/** Numbers, without indices and names that contain digits, such as p₂₀ and d/2. */
const numbersIn = (text: string): string[] =>
  flat(text)
    .replace(/tensor2tensor|T5|all-MiniLM-L6-v2|d\/2|√2|arXiv \d{4}\.\d{5}|et al\. \d{4}/g, '')
    .match(/(?<![\p{L}\d.,])[×−]?\d+(?:[.,]\d+)*/gu) ?? [];

/** Everything that a figure says in a state, in words and marks. */
async function saidBy(shown: FigureState): Promise<string> {
  const link = headless.readLink(linkOf(shown, headless));
  if (!link || 'refused' in link) throw new Error('The link cannot be read.');
  const { figure, data, state, refused } = await rendered(link.figure, link.settings);
  expect(refused).toEqual([]);
  const readout = figure.readout(data, state, figure.firstCursor?.(data, state) ?? { i: 0, j: 0 });
  const texts = figure
    .scene(data, state, 1048)
    .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  const words = readout.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
  return flat([figure.describe(data, state), words, ...texts].join('\n'));
}

describe.runIf(withModel)('the answer', () => {
  /** The numbers in a text without their signs, as sentences write them. */
  const sizesIn = (text: string): string[] => text.match(/(?<![\p{L}\d.])\d+(?:\.\d+)?/gu) ?? [];
  /** Whether one of the numbers rounds to this one, to the digits written. */
  const rounds = (written: string, numbers: string[]) =>
    numbers.some((value) => Number(value).toFixed(written.split('.')[1]?.length ?? 0) === written);

  test.each(answer.sentences)('$text', async ({ text, links }) => {
    let all = '';
    for (const link of links) {
      const here = await saidBy(link);
      for (const part of link.shows) expect(here).toContain(flat(part));
      all += ` ${here}`;
    }
    for (const number of sizesIn(plainText({ text, links })))
      expect(rounds(number, sizesIn(all)), number).toBe(true);
  });
});

for (const { beat, steps } of beats) {
  test.runIf(withModel).each(steps)(`${beat}: $title`, async (step) => {
    const { links = [], shows } = step;
    expect(shows.length).toBeGreaterThan(0);
    const known: string[] = [];
    for (const source of [step, ...links]) {
      const here = await saidBy(source);
      for (const part of source.shows) expect(here).toContain(flat(part));
      known.push(
        ...numbersIn(`${source.shows.join(' ; ')} ; ${Object.values(source.settings ?? {}).join(' ; ')}`),
      );
    }
    for (const number of numbersIn(plainText(step))) expect(known, number).toContain(number);
  });
}

describe('verdicts', () => {
  // The tags of verdicts whose words do not say which it is. All others of that kind are False.
  const open: Record<string, string> = {
    'Not in these language models': 'Depends',
    'Here it does, more with longer training': 'Depends',
    'Two tasks about as soon, two much later': 'Depends',
    'A rotated part, beside each query and key': 'True',
  };
  const ofModel = ['overlap', 'sum', 'one-score', 'heads'];
  test.each(verdicts.filter(({ figure }) => withModel || !ofModel.includes(figure ?? '')))(
    '$claim',
    async (verdict) => {
      const { claim, why, figure, shows } = verdict;
      // The tag agrees with the text: “Depends” if that says on what, or else the verdict’s first word.
      const word = verdict.on?.startsWith('on ')
        ? 'Depends'
        : /^(True|False)\b(?! of)/.exec(verdict.verdict)?.[0];
      expect(verdict.tag).toBe(word ?? open[verdict.verdict] ?? 'False');
      const known = new Set(numbersIn(`${claim} ${shows.join(' ; ')}`));
      if (!figure) {
        expect(why).toContain('Published, not computed here.');
        return;
      }
      const here = await saidBy(verdict);
      expect(shows.length).toBeGreaterThan(0);
      for (const part of shows) {
        expect(here, 'the figure').toContain(part);
        expect(flat(why), 'the verdict').toContain(part);
      }
      for (const number of numbersIn(`${verdict.verdict}. ${why}`)) expect(known, number).toContain(number);
    },
  );
});

const value = (id: string) => Number(published.find((entry) => entry.id === id)?.value);
const verdictOn = (start: string): string => verdicts.find(({ claim }) => claim.startsWith(start))?.why ?? '';

test('the published verdict quotes differences of the published averages', () => {
  const gain = (from: string, to: string) => (value(to) - value(from)).toFixed(2);
  const why = verdictOn('Without the cross terms GLUE');
  const named = [
    gain('tupe-bert-a', 'tupe-a'),
    gain('tupe-bert-a-d', 'tupe-a-tie-cls'),
    gain('tupe-bert-a', 'tupe-bert-a-d'),
    gain('tupe-a-tie-cls', 'tupe-a'),
  ];
  expect(numbersIn(why)).toEqual(named);
});

interface Cell {
  accuracy: { mean: number; least: number; largest: number };
  first: { mean: number; count: number } | undefined;
}

/** Rows of the recorded table over five seeds. */
async function rowsOf(settings: Record<string, string>): Promise<Cell[][]> {
  const { data, refused } = await rendered('schemes-tasks', Object.entries({ norm: 'with', ...settings }));
  expect(refused).toEqual([]);
  return (data as { cells: Cell[][] }).cells;
}

test('sooner, later and not: as the verdicts on training say, over five seeds', async () => {
  const [added, cut, sinusoid] = (await rowsOf({ schemes: 'add.add-without-cross-terms.add-sinusoid' })) as [
    Cell[],
    Cell[],
    Cell[],
  ];
  const firstOf = (row: Cell[], task: number) => row[task]?.first?.mean ?? Number.POSITIVE_INFINITY;
  for (const task of [0, 3]) expect(Math.abs(firstOf(cut, task) - firstOf(added, task))).toBeLessThan(10);
  for (const task of [1, 2]) {
    expect(cut[task]?.first?.count).toBe(5);
    expect(firstOf(cut, task)).toBeGreaterThan(5 * firstOf(added, task));
  }
  for (const task of [1, 2, 3]) expect(firstOf(added, task)).toBeLessThan(firstOf(sinusoid, task));
  // Which ways learn lookup, an absolute position, in one layer with LayerNorm, and which do not.
  const lookup = async (schemes: string) => (await rowsOf({ schemes, tasks: 'lookup' })).flat();
  for (const cell of await lookup('add.concat-half.concat-quarter'))
    expect(cell).toMatchObject({ accuracy: { mean: 1 } });
  for (const cell of await lookup('rope.alibi.t5.tupe')) expect(cell.first).toBeUndefined();
  // Without LayerNorm no seed of any model with separate scores learns the task in 16,000 steps.
  const separate = await rowsOf({
    norm: 'without',
    schemes: 'concat-wide-without-cross-terms.add-without-cross-terms.tupe',
    tasks: 'lookup.roll',
  });
  for (const cell of separate.flat()) expect(cell).toMatchObject({ step: 16_000, first: undefined });
  const causal = await rowsOf({ schemes: 'add', tasks: 'prev', layers: 'causal' });
  expect(causal[0]?.[0]?.first).toMatchObject({ count: 5 });
  expect(causal[0]?.[0]?.first?.mean).toBeLessThan(100);
  const [deep, floor] = await rowsOf({ schemes: 'none.uniform-attention', tasks: 'prev', layers: 'two' });
  expect(deep?.[0]?.accuracy.mean).toBeLessThan((floor?.[0]?.accuracy.mean as number) + 0.04);
});

test('without anything in common RoPE hardly asks about positions, and what it asks of them is the distance', async () => {
  const rope = async (common: 'yes' | 'no') =>
    (await run(schemes, { scheme: 'rope', words: 'many', common })).data;
  const withPositions = ({ schemes: all }: Awaited<ReturnType<typeof rope>>) =>
    (['token-position', 'position-token', 'position-position'] as const)
      .map((term) => Math.abs(all.rope.shares[anovaTerms.indexOf(term)]))
      .reduce((sum, share) => sum + share);
  const [separate, shared] = [await rope('no'), await rope('yes')];
  expect(withPositions(separate)).toBeLessThan(0.04);
  expect(withPositions(shared)).toBeGreaterThan(0.2);
  const positions = shared.terms.find(({ name }: { name: string }) => name === 'position-position');
  expect(positions.depends).toBe('offset');
});

test('√(2d) keeps TUPE’s scores as far apart as those of words alone', async () => {
  expect(verdictOn('1/√(2d)')).toContain('dividing by √(2dₕ) instead of √dₕ undoes that');
  const deviation = (values: Float64Array) => {
    const mean = values.reduce((a, b) => a + b) / values.length;
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  };
  const ratios: number[] = [];
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const { data } = await run(schemes, { words: 'many', seed });
    const [sum, words] = ['tupe-a', 'none'].map((id) => deviation(data.schemes[id].logits.values));
    ratios.push((sum as number) / (words as number));
  }
  // Without the factor it would be √2.
  const mean = ratios.reduce((a, b) => a + b) / ratios.length;
  expect(mean).toBeGreaterThan(0.9);
  expect(mean).toBeLessThan(1.1);
});

const products = (d_model: number, seed: number) =>
  superpose.dotProducts({
    token: superpose.randomNormal({ rows: 64, columns: d_model, seed }),
    position: superpose.sinusoidal({ positions: 64, d_model }),
  });

test('cross terms spread like √d, position · position grows like d, and so the cross terms weigh less', () => {
  for (const seed of [1, 2, 3]) {
    const [narrow, wide] = [products(64, seed), products(1024, seed)];
    // Sixteen times the width: four times the spread, sixteen times p·p′. With 64 tokens a spread is
    // known to about one part in √128, so 20 % is more than two standard errors.
    const spread = wide.moments.crossTerms.deviation / narrow.moments.crossTerms.deviation;
    expect(spread).toBeGreaterThan(4 * 0.8);
    expect(spread).toBeLessThan(4 * 1.2);
    const growth = wide.moments['position-position'].mean / narrow.moments['position-position'].mean;
    expect(growth).toBeGreaterThan(16 * 0.9);
    expect(growth).toBeLessThan(16 * 1.1);
    const weights = [16, 64, 256, 1024].map((d) => {
      const { moments } = products(d, seed);
      return moments.crossTerms.deviation / moments['position-position'].mean;
    });
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(Math.min(...weights)).toBeGreaterThan(0);
  }
});

test('two random vectors, and the largest of many', () => {
  expectOnPage('in 512 dimensions its size is 0.035 on average');
  expect(superpose.cosineMeanSize({ d: 512 }).toFixed(3)).toBe('0.035');
  expectOnPage('Among 512 positions and 30,522 word pieces the largest cosine to expect is 0.24');
  expect(superpose.largestCosineMedian({ pairs: 512 * 30_522, d: 512 }).toFixed(2)).toBe('0.24');
});

test('random subspaces', () => {
  expectOnPage(
    'In 512 dimensions, two random 64-dimensional subspaces, as wide as one head of the 2017 paper’s model, contain directions with a cosine of about 0.65',
  );
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const largest = seeds.map((seed) =>
    Math.cos(superpose.randomPrincipalAngles({ d: 512, k1: 64, k2: 64, seed })[0] as number),
  );
  expect(largest[0]?.toFixed(2)).toBe('0.65');
  const mean = largest.reduce((sum, cosine) => sum + cosine, 0) / 8;
  expect(mean).toBeGreaterThan(0.635);
  expect(mean).toBeLessThan(0.665);
  for (const [k1, k2] of [
    [1, 1],
    [4, 16],
    [16, 16],
  ] as const) {
    const edge = (Math.sqrt(k1) + Math.sqrt(k2)) / 64;
    const { highestCosine } = superpose.chanceAngles({ d: 4096, k1, k2 });
    expect(highestCosine / edge).toBeGreaterThan(0.99);
    expect(highestCosine / edge).toBeLessThanOrEqual(1);
  }
  expect(superpose.chanceAngles({ d: 512, k1: 300, k2: 213 }).zeroAngles).toBe(1);
  expect(superpose.chanceAngles({ d: 512, k1: 300, k2: 212 }).zeroAngles).toBe(0);
});

test.runIf(withModel)('MiniLM’s tables, of 512 words and of all', async () => {
  expectOnPage(
    'once each has its mean row taken away, they overlap less than a third as much as chance, and most of the positions’ main directions lie where the tokens vary least',
  );
  const { data } = await run(overlap);
  expect(data.centred).toBeLessThan(1 / 3);
  const last = 384 / 8;
  expect(1 - (data.reached[384 - last - 1] as number)).toBeGreaterThan(0.7);

  expectOnPage(
    'Over the whole vocabulary A is 0.23, or 0.14 without position 0, where only [CLS] stands, and 89 % of the positions’ twelve main directions lie where tokens vary least, in the last eighth of all directions',
  );
  const model = await loadMiniLM(superpose);
  // All ids except those of padding and of pieces called [unused…].
  const ids = [100, 101, 102, 103, ...Array.from({ length: 30_522 - 999 }, (_, place) => 999 + place)];
  expect(ids).toHaveLength(29_527);
  const tokens = { data: new Float64Array(ids.length * 384), rows: ids.length, columns: 384 };
  for (let first = 0; first < ids.length; first += 128) {
    const { token } = await model.rows({ ids: ids.slice(first, first + 128) });
    tokens.data.set(token.data, first * 384);
  }
  const { position: positions } = await model.rows({ ids: ids.slice(0, 128) });
  expect(superpose.energyOverlap({ tokens, positions, centred: true }).toFixed(2)).toBe('0.23');
  const later = { data: positions.data.subarray(384), rows: positions.rows - 1, columns: 384 };
  expect(superpose.energyOverlap({ tokens, positions: later, centred: true }).toFixed(2)).toBe('0.14');
  const { shares } = superpose.overlapCurve({
    tokens: superpose.centred(tokens),
    positions: superpose.centred(positions),
    k: 12,
  });
  const share = shares.slice(-last).reduce((sum, share) => sum + share, 0) / 12;
  expect(Math.round(100 * share)).toBe(89);

  const raw = [999, 2048, 10_240].map((first) => {
    const rows = {
      data: tokens.data.slice((first - 994) * 384, (first - 994 + 512) * 384),
      rows: 512,
      columns: 384,
    };
    return superpose.energyOverlap({ tokens: rows, positions });
  });
  expect(Math.max(...raw) / Math.min(...raw)).toBeGreaterThan(3);
  expect(Math.max(...raw)).toBeGreaterThan(1);
});

test('how much longer a norm between makes one output, as the figure has it', async () => {
  const lengths =
    'over 256 random pairs it is 0.62 to 1.81 (median 1.34) at width 8, and 1.35 to 1.49 (median 1.41) at width 768';
  expectOnPage(lengths);
  expect(await saidBy({ figure: 'one-layer', settings: { pull: 1, norm: 'yes' }, shows: [] })).toContain(
    lengths,
  );
});

test('MiniLM’s sums all differ, as the oracle computed them', () => {
  const { sums, equal, token_rank, median_token_length, nearest_tokens, nearest_positions } = minilmSums;
  expect(equal).toBe(0);
  const [[betweenTokens = 0], [betweenPositions = 0, position, next]] = [nearest_tokens, nearest_positions];
  expectOnPage(
    `its 30,522 token rows span all ${token_rank} dimensions: we computed all of its ${sums.toLocaleString('en')} sums exactly`,
  );
  expectOnPage(
    `The nearest two sums of one token, at positions ${position} and ${next}, are ${betweenPositions.toFixed(3)} apart, and the nearest two at one position are ${betweenTokens.toFixed(3)} apart. For comparison, the median length of a token’s row is ${median_token_length.toFixed(2)}.`,
  );
  expectOnPage(
    `30,522 token rows fill all of its ${token_rank} dimensions, and still no two of its ${sums.toLocaleString('en')} sums of a token row and a position row are equal`,
  );
  expect(sums).toBe(30_522 * 512);
});

test('wider vectors do not make the two dot products agree more', async () => {
  const meanCorrelation = async (d: number) => {
    let sum = 0;
    for (let seed = 1; seed <= 6; seed++)
      sum += (await run(dotProducts, { d: String(d), seed: String(seed) })).data.correlation;
    return (sum / 6).toFixed(2);
  };
  expect(evidence).toContain(
    `Over six seeds they correlate at ${await meanCorrelation(16)} on average at d = 16 and at ${await meanCorrelation(64)} at d = 64`,
  );
});

test('a fixed sinusoid leaves room: one matrix takes sums of tokens and sinusoids to both, concatenated', () => {
  expectOnPage('128 positions of 512 channels have rank 57');
  expectOnPage('384 and 128 wide, to less than 4 · 10⁻¹⁰');
  const [n, d, wide] = [128, 512, 384];
  const sinusoid = superpose.sinusoidal({ positions: n, d_model: d });
  const narrower = superpose.sinusoidal({ positions: n, d_model: d - wide });
  expect(superpose.ranks({ table: sinusoid }).numerical).toBe(57);
  const columnsOf = ({ data, rows, columns }: { data: Float64Array; rows: number; columns: number }) => ({
    data: Float64Array.from(data, (_, k) => data[(k % rows) * columns + Math.floor(k / rows)] as number),
    rows: columns,
    columns: rows,
  });
  // Orthonormal directions of tokens, whose transpose maps back.
  const basis = superpose.randomNormal({ rows: wide, columns: d, seed: 1 });
  const of = Array.from({ length: wide }, (_, k) => basis.data.subarray(d * k, d * k + d));
  const dot = (a: Float64Array, b: Float64Array) =>
    a.reduce((sum, value, c) => sum + value * (b[c] as number), 0);
  for (const [k, one] of of.entries()) {
    // Twice, since one pass leaves rounding errors.
    for (let pass = 0; pass < 2; pass++)
      for (const other of of.slice(0, k)) {
        const along = dot(one, other);
        one.forEach((value, c) => {
          one[c] = value - along * (other[c] as number);
        });
      }
    const length = Math.sqrt(dot(one, one));
    one.forEach((value, c) => {
      one[c] = value / length;
    });
  }
  const { projector, exact } = superpose.obliqueProjection({ u: columnsOf(basis), w: columnsOf(sinusoid) });
  expect(exact).toBe(true);
  const rows = Array.from(
    { length: d },
    (_, c) => projector?.data.subarray(d * c, d * c + d) as Float64Array,
  );
  const tokens = superpose.randomNormal({ rows: n, columns: wide, seed: 2 }).data;
  let worst = 0;
  for (let i = 0; i < n; i++) {
    const token = tokens.subarray(wide * i, wide * i + wide);
    const sum = sinusoid.data.slice(d * i, d * i + d);
    of.forEach((one, k) => {
      one.forEach((value, c) => {
        sum[c] = (sum[c] as number) + (token[k] as number) * value;
      });
    });
    const tokenPart = Float64Array.from(rows, (row) => dot(row, sum));
    const positionPart = sum.map((value, c) => value - (tokenPart[c] as number));
    of.forEach((one, k) => {
      worst = Math.max(worst, Math.abs(dot(one, tokenPart) - (token[k] as number)));
    });
    // Every fourth frequency is one of the narrower sinusoid.
    for (let c = 0; c < d - wide; c++) {
      const from = 8 * Math.floor(c / 2) + (c % 2);
      const at = narrower.data[(d - wide) * i + c] as number;
      worst = Math.max(worst, Math.abs((positionPart[from] as number) - at));
    }
  }
  expect(worst).toBeLessThan(4e-10);
});

test('what is published of Gehring’s table: without positions it is a little behind', () => {
  for (const measure of ['perplexity', 'bleu']) {
    const [full, none] = [value(`convs2s-${measure}-full`), value(`convs2s-${measure}-none`)];
    expect(measure === 'bleu' ? full - none : none - full).toBeGreaterThan(0);
  }
});

test('the title’s short form stands in the page’s description, in README and in the command’s help', () => {
  const html = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8');
  expect(html).toContain(`<meta name="description" content="${answer.short} `);
  expect(flat(readFileSync(new URL('../../README.md', import.meta.url), 'utf8'))).toContain(answer.short);
  const command = readFileSync(new URL('../../web/node/command/superpose.ts', import.meta.url), 'utf8');
  expect(command).toContain(`Why are positions added? ${answer.short}\n`);
});

test('channels that move, and directions', () => {
  expectOnPage(
    'of tensor2tensor’s 512, over 128 positions, 286 by more than 0.5, 355 by more than 0.1, 445 by more than 0.01',
  );
  const table = superpose.sinusoidal({
    positions: 128,
    d_model: 512,
    layout: 'concatenated',
    spacing: 'timescales',
  });
  const ranges = superpose.channelRanges(table);
  expect([0.5, 0.1, 0.01].map((least) => ranges.filter((range) => range > least).length)).toEqual([
    286, 355, 445,
  ]);
  expectOnPage(
    'The same table has 99 % of its energy in 39 of its 512 directions, in any order of the channels',
  );
  expect(superpose.ranks({ table }).energy).toBe(39);
  expectOnPage('A table of random numbers needs 124 of the 128 that it can have');
  for (const seed of [1, 2, 3]) {
    expect(superpose.ranks({ table: superpose.randomNormal({ rows: 128, columns: 512, seed }) }).energy).toBe(
      124,
    );
  }
});

describe.runIf(withModel)('MiniLM', () => {
  test('positions in attention alone leave most of ten embeddings', async () => {
    expectOnPage(
      'Over ten other sentences, positions in attention alone leave a cosine of 0.995 on average, positions everywhere else 0.934.',
    );
    const model = await loadMiniLM(superpose);
    const cosines = { allButAttention: [] as number[], attention: [] as number[] };
    for (const text of heads.tenSentences) {
      const taken = await model.withoutPositions(await model.tokenize(text));
      const last = (kind: keyof typeof taken) => taken[kind].data.subarray(384 * 6, 384 * 7);
      for (const kind of ['allButAttention', 'attention'] as const)
        cosines[kind].push(last(kind).reduce((sum, one, c) => sum + one * (last('nothing')[c] as number), 0));
    }
    const mean = (list: number[]) => list.reduce((sum, one) => sum + one) / list.length;
    expect(mean(cosines.allButAttention).toFixed(3)).toBe('0.995');
    expect(mean(cosines.attention).toFixed(3)).toBe('0.934');
    const range = (list: number[]) =>
      `from ${Math.min(...list).toFixed(3)} to ${Math.max(...list).toFixed(3)}`;
    expect(evidence).toContain(
      `0.995 and 0.934, ${range(cosines.allButAttention)} and ${range(cosines.attention)}`,
    );
  });

  test('token rows are nearly orthogonal to position rows, but not those of a sentence', async () => {
    const { mean_absolute_cosine, mean_absolute_cosine_by_chance } = minilmSums;
    expect(evidence).toContain(
      `mean \\|cos\\| ${mean_absolute_cosine.toFixed(4)}, chance ${mean_absolute_cosine_by_chance.toFixed(4)}`,
    );
    const model = await loadMiniLM(superpose);
    const { token, position } = await model.rows(
      'The river bank was closed, so she walked to the other bank.',
    );
    const rowsOf = ({ data, rows, columns }: typeof token) =>
      Array.from({ length: rows }, (_, row) => data.subarray(columns * row, columns * (row + 1)));
    const cosine = (left: Float64Array, right: Float64Array) => {
      const product = left.reduce((sum, value, c) => sum + value * (right[c] as number), 0);
      return product / (Math.hypot(...left) * Math.hypot(...right));
    };
    const cosines = rowsOf(token).flatMap((left) => rowsOf(position).map((right) => cosine(left, right)));
    const mean = cosines.reduce((sum, value) => sum + Math.abs(value), 0) / cosines.length;
    expect(evidence).toContain(`In a sentence the mean is ${mean.toFixed(3)}`);
  });

  test('king stays beside queen, and only position 0 takes a frequent word', async () => {
    const { bare, nearest, margins } = (
      await run(collisions, { of: 'token', words: 'trained', word: 'king' })
    ).data;
    expect(new Set([bare, ...nearest])).toEqual(new Set(['queen']));
    expect(Math.max(...margins) / Math.min(...margins)).toBeLessThan(1.1);

    expectOnPage(
      'Of the 2,048 frequent word pieces, all are safe at positions 1 to 63. Position 0, whose row is the longest by far, takes one of them, “...”, to “in”',
    );
    const model = await loadMiniLM(superpose);
    expectOnPage(
      'the segment’s row is less than half as long as tokens’ are on average, and so are positions’ after the first',
    );
    const summed = await model.rows('The river bank was closed, so she walked to the other bank.');
    const lengths = ({ data, rows }: { data: Float64Array; rows: number }) =>
      Array.from({ length: rows }, (_, row) => Math.hypot(...data.subarray(384 * row, 384 * (row + 1))));
    const mean = (list: number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
    const half = mean(lengths(summed.token)) / 2;
    expect(lengths(summed.token_type)[0]).toBeLessThan(half);
    expect(mean(lengths(summed.position).slice(1))).toBeLessThan(half);
    const [first, count] = [1996, 2048];
    const data = new Float64Array(count * 384);
    let position: Float64Array = new Float64Array();
    for (let from = 0; from < count; from += 512) {
      const ids = Array.from({ length: 512 }, (_, place) => first + from + place);
      const rows = await model.rows({ ids });
      data.set(rows.token.data, from * 384);
      position = rows.position.data;
    }
    const positions = { data: position.subarray(0, 64 * 384), rows: 64, columns: 384 };
    const search = superpose.collisionSearch({ tokens: { data, rows: count, columns: 384 }, positions });
    const { lost } = await search.allWords();
    expect([...lost]).toEqual([1, ...new Array(63).fill(0)]);
    const pieces = search.nearestTokens(0, count);
    const at = pieces.margins.findIndex((margin) => margin < 0);
    const [word, other] = [Math.floor(at / 64), pieces.nearest[at] as number];
    search.delete();
    expect(await model.pieces([first + word, first + other])).toEqual(['...', 'in']);
  });

  test('the variation in each head’s scores', async () => {
    const rowsOf = async (settings: Record<string, string>) => {
      const shares: number[][] = (await run(heads, settings)).data.rows.map(
        (row: { shares: number[] }) => row.shares,
      );
      return { heads: shares.slice(0, -2), pooled: shares.at(-1) as number[] };
    };
    const cross = (shares: number[] = []) => (shares[1] as number) + (shares[2] as number);
    expectOnPage(
      'is true of eleven heads, each with less than 3 %, and false of one: head 11 has more than a quarter',
    );
    expectOnPage('head 2’s vary so much that more than nine tenths of the whole are position → position');
    for (const settings of [{}, { sentences: 'ten' }] as Record<string, string>[]) {
      const { heads: shares, pooled } = await rowsOf(settings);
      for (let head = 0; head < 11; head++) expect(Math.abs(cross(shares[head]))).toBeLessThan(0.03);
      expect(shares[11]?.[1]).toBeGreaterThan(0.25);
      expect(pooled[3]).toBeGreaterThan(0.9);
    }
    expectOnPage(
      'for this sentence cross terms of about a quarter in heads 7 and 8, and of minus a half in head 9',
    );
    expectOnPage('which hardly changes position → position: by less than 3 points in every head.');
    for (const [place, settings] of [{}, { sentences: 'ten' }].entries()) {
      const { heads: canonical } = await rowsOf(settings as Record<string, string>);
      const { heads: raw } = await rowsOf({ gauge: 'raw', ...settings });
      if (place === 0)
        for (const head of [7, 8]) expect(Math.abs(cross(raw[head]) - 0.25)).toBeLessThan(0.04);
      expect(Math.abs(cross(raw[9]) + 0.5)).toBeLessThan(0.025);
      const moved = (kind: number) =>
        Math.max(
          ...raw.map((own, head) => Math.abs((own[kind] as number) - (canonical[head]?.[kind] as number))),
        );
      for (const kind of [1, 3]) expect(moved(kind)).toBeLessThan(0.03);
      for (const kind of [0, 2, 4]) expect(moved(kind)).toBeGreaterThan(0.2);
    }
  });

  test('what [CLS] makes of head 11', async () => {
    const model = await loadMiniLM(superpose);
    const groups = { position: ['position'], rest: ['token', 'token_type', 'constant'] };
    const options = { gauge: 'raw', groups, only: [11] } as const;
    const shareOf = async (rows?: { excludedRows: number[] }) =>
      (await model.decompose(heads.figure.controls.text.initial, { ...options, ...rows }))
        .shares[0] as number;
    const [withIt, without] = [await shareOf({ excludedRows: [] }), await shareOf()];
    expectOnPage(
      `With it, ${(100 * withIt).toFixed(0)} % of the variation in head 11’s scores would be position → position, raw; without it, this share is ${(100 * without).toFixed(0)} %.`,
    );
  });
});

test('TUPE’s averages are those of its columns, and the steps between them what the page says', () => {
  const averaged = published.filter(({ parts }) => parts);
  expect(averaged).toHaveLength(6);
  for (const { value: printed, parts = [] } of averaged) {
    expect(parts).toHaveLength(9);
    const mean = parts.reduce((sum, part) => sum + part, 0) / 9;
    // The printed mean and its columns have two decimals: allow its rounding, and one unit for how it rounds.
    expect(Math.abs(mean - Number(printed))).toBeLessThan(0.01);
  }
  const step = (from: string, to: string) => (value(to) - value(from)).toFixed(2);
  expectOnPage(
    `BERT gains ${step('tupe-bert-a', 'tupe-a')} points of GLUE average on the way from added positions to TUPE-A: ${step('tupe-bert-a', 'tupe-bert-a-d')} come with projections of their own, with all four terms kept, ${step('tupe-bert-a-d', 'tupe-a-tie-cls')} with leaving out the cross terms and ${step('tupe-a-tie-cls', 'tupe-a')} with the reset of [CLS].`,
  );
  expectOnPage(`a masked one fails: ${value('haviv-masked-none')} against about 4.`);
  for (const kind of ['learned', 'sinusoidal', 'alibi']) {
    expect(value(`haviv-masked-${kind}`)).toBeCloseTo(4, 0);
    const loss = value('haviv-wikitext-none') / value(`haviv-wikitext-${kind}`);
    expect(loss).toBeGreaterThan(1);
    expect(loss).toBeLessThan(1.1);
  }
});
