// The sentences of the page that state numeric facts, each checked for its default sentence and seed. A
// number that prose gives in words ("a fifth") is a range here.
import { readFileSync } from 'node:fs';
import { load, loadMiniLM, sharesOf } from 'superpose';
import { beforeAll, expect, inject, test } from 'vitest';
import { beats } from '../../web/build/beats.ts';
import { tenSentences } from '../../web/figures/heads.ts';
import { sentenceControl } from '../../web/figures/sentence.ts';

const page = readFileSync(new URL('../../web/index.html', import.meta.url), 'utf8')
  .replace(/<[^>]*>/g, '')
  .replace(/\s+/g, ' ')
  .concat(beats.flatMap(({ steps }) => steps.map(({ text }) => text)).join(' '));
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
    'With random tokens and sinusoids the cross terms spread like √d, while p·p′ grows like d: the wider the vectors, the less the cross terms weigh beside what the positions say to each other. They still grow, only more slowly. Turn ρ to 0 and there is no position to mix in.',
  );
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

test.runIf(inject('withModel'))(
  'what the page says of heads 0, 2, 3, 8 and 11, in the canonical gauge and raw',
  async () => {
    const sentence = sentenceControl.initial;
    const model = await loadMiniLM(superpose);
    const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
    const [scores, raw] = await Promise.all([
      model.decompose(sentence, { groups }),
      model.decompose(sentence, { groups, gauge: 'raw' }),
    ]);
    const share = (head: number, query: number, key: number, of = scores) =>
      sharesOf(of, head)[3 * query + key] as number;
    const [token, position] = [0, 1];

    said('head 2 looks one token back, whatever token is there');
    expect(share(2, position, position)).toBeGreaterThan(0.95);
    expect(Math.abs(share(2, token, token))).toBeLessThan(0.01);
    said('Head 11 uses a cross term');
    expect(share(11, token, position)).toBeGreaterThan(0.25);
    expect(share(11, token, position)).toBeLessThan(0.3);
    said('cross terms of a fifth in heads 0, 3 and 8');
    said('Those are artefacts.');
    for (const head of [0, 3, 8]) {
      expect(share(head, position, token, raw)).toBeGreaterThan(0.18);
      expect(share(head, position, token, raw)).toBeLessThan(0.24);
      expect(Math.abs(share(head, position, token))).toBeLessThan(0.01);
    }
  },
);

test.runIf(inject('withModel'))('what the page says of heads 2 and 3 holds of ten sentences', async () => {
  const model = await loadMiniLM(superpose);
  const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };
  for (const sentence of tenSentences) {
    const scores = await model.decompose(sentence, { groups });
    const [head2, head3] = [sharesOf(scores, 2), sharesOf(scores, 3)] as [Float64Array, Float64Array];
    expect(head2[4]).toBeGreaterThan(0.95);
    expect(Math.abs(head2[0] as number)).toBeLessThan(0.01);
    expect(head3[0]).toBeGreaterThan(0.3);
    expect(head3[4]).toBeGreaterThan(0.1);
    for (const cross of [head3[1], head3[3]]) expect(Math.abs(cross as number)).toBeLessThan(0.03);
  }
});
