// The sentences of the page that state a fact about numbers, each checked for its default sentence and
// seed. A number that prose names in words ("a fifth") is a range here.
import { readFileSync } from 'node:fs';
import { load, loadMiniLM, sharesOf } from 'superpose';
import { beforeAll, expect, inject, test } from 'vitest';
import { sentenceControl } from '../../web/figures/sentence.ts';

const page = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8')
  .replace(/<[^>]*>/g, '')
  .replace(/\s+/g, ' ');
const said = (sentence: string) => expect(page).toContain(sentence);

let superpose: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  superpose = await load();
});

const products = (d_model: number, seed: number) =>
  superpose.dotProducts({
    token: superpose.randomNormal({ rows: 64, columns: d_model, seed }),
    position: superpose.sinusoidal({ positions: 64, d_model }),
  });

test('cross terms spread like √d, position · position grows like d, and so the cross terms weigh less', () => {
  said(
    'With random tokens and sinusoids the cross terms spread like √d, while p·p′ grows like d: the wider the vectors, the less the cross terms weigh beside what the positions say to each other. They grow all the same. Turn ρ to 0 and there is no position to mix in.',
  );
  for (const seed of [1, 2, 3]) {
    const [narrow, wide] = [products(64, seed), products(1024, seed)];
    // Sixteen times the width: four times the spread, sixteen times p·p′. Over 64 tokens a spread is
    // known to about one part in √128, so 20 % is more than two standard errors.
    const spread = wide.moments.crossTerms.deviation / narrow.moments.crossTerms.deviation;
    expect(spread).toBeGreaterThan(4 * 0.8);
    expect(spread).toBeLessThan(4 * 1.2);
    const growth = wide.moments.positionPosition.mean / narrow.moments.positionPosition.mean;
    expect(growth).toBeGreaterThan(16 * 0.9);
    expect(growth).toBeLessThan(16 * 1.1);
    const weights = [16, 64, 256, 1024].map((d) => {
      const { crossTerms, positionPosition } = products(d, seed).moments;
      return crossTerms.deviation / positionPosition.mean;
    });
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(Math.min(...weights)).toBeGreaterThan(0);
  }
});

test.runIf(inject('withModel'))('what the page says of heads 0, 2, 3 and 8', async () => {
  const sentence = sentenceControl.initial;
  const model = await loadMiniLM(superpose);
  const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
  const scores = await model.decompose(sentence, { groups });
  const share = (head: number, query: number, key: number) =>
    sharesOf(scores, head)[3 * query + key] as number;
  const [token, position] = [0, 1];

  // All four, one of them least: a cross term's share, and more of it than rounding leaves.
  said('Head 3 asks all four.');
  for (const query of [token, position]) {
    for (const key of [token, position]) expect(share(3, query, key)).toBeGreaterThan(0.03);
  }
  said('Choose head 2: it hardly reads the words');
  expect(share(2, position, position)).toBeGreaterThan(0.95);
  expect(Math.abs(share(2, token, token))).toBeLessThan(0.01);
  said('A fifth of what its scores vary by comes from position → token');
  said('so it does in heads 0 and 8');
  for (const head of [0, 3, 8]) {
    expect(share(head, position, token)).toBeGreaterThan(0.18);
    expect(share(head, position, token)).toBeLessThan(0.24);
  }
});
