// The figure "heads", against an oracle, the library and the command.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load, loadMiniLM, sharesOf } from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import { filesOfPiece, type Manifest, type Piece } from '../../build/package/model/pieces.js';
import { writeLink } from '../../web/element/link.ts';
import * as heads from '../../web/figures/heads.ts';
import * as oneScore from '../../web/figures/oneScore.ts';
import { expectSoundPictures, run } from './support.ts';

// Computed by numpy from the published weights.
const oracle = JSON.parse(readFileSync(new URL('../reference/minilm.json', import.meta.url), 'utf8'));
const fourOf = (nine: ArrayLike<number>) => [0, 1, 3, 4].map((term) => nine[term]);
const close = (actual: number[] | undefined, expected: (number | undefined)[]) => {
  expected.forEach((share, kind) => {
    expect(actual?.[kind]).toBeCloseTo(share as number, 6); // 1.5e-7
  });
  expect(actual?.reduce((a, b) => a + b)).toBeCloseTo(1, 6); // 2.0e-7
};

const groups = { token: ['token'], position: ['position'], rest: ['token_type', 'constant'] };

// tests/api/model compares the library's raw shares with numpy's, over all rows.
test.runIf(inject('withModel'))('raw shares of the default sentence', async () => {
  const result = await run(heads, { gauge: 'raw' });
  expectSoundPictures(result);
  const model = await loadMiniLM(await load());
  const scores = await model.decompose(String(result.state.text), { gauge: 'raw', groups });
  for (const head of scores.heads) close(result.data.rows[head].shares, fourOf(sharesOf(scores, head)));
  const { rows } = result.figure.table(result.data, result.state);
  expect(rows).toHaveLength(14);
  for (const [, , tp, pt, , , cross] of rows as number[][])
    expect((tp as number) + (pt as number)).toBeCloseTo(cross as number, 12);
});

test.runIf(inject('withModel'))('raw shares of the ten sentences, averaged and pooled', async () => {
  const texts = oracle.sentences.map(({ text }: { text: string }) => text);
  for (const text of heads.tenSentences) expect(texts).toContain(text);
  const result = await run(heads, { sentences: 'ten', gauge: 'raw' });
  expectSoundPictures(result);
  const superpose = await load();
  const model = await loadMiniLM(superpose);
  const scores = await Promise.all(
    heads.tenSentences.map((text) => model.decompose(text, { gauge: 'raw', groups })),
  );
  const each = Array.from({ length: 9 }, (_, term) => term);
  const { heads: perHead, mean, pooled } = superpose.poolShares(scores, each);
  const expected = [
    ...Array.from({ length: 12 }, (_, head) => perHead.subarray(9 * head, 9 * head + 9)),
    mean,
    pooled,
  ];
  expected.forEach((nine, row) => {
    close(result.data.rows[row].shares, fourOf(nine));
  });
});

test.runIf(inject('withModel'))('how long the rows of the sentence are, before the LayerNorm', async () => {
  const { figure, data, state } = await run(heads);
  const model = await loadMiniLM(await load());
  const { token, position } = await model.rows(await model.tokenize(String(state.text)));
  const mean = (rows: typeof token) => {
    const lengths = Array.from({ length: rows.rows }, (_, i) =>
      Math.hypot(...rows.data.subarray(i * rows.columns, (i + 1) * rows.columns)),
    );
    return lengths.reduce((a, b) => a + b) / rows.rows;
  };
  expect(data.lengths.token).toBeCloseTo(mean(token), 9);
  expect(data.lengths.position).toBeCloseTo(mean(position), 9);
  expect(data.lengths.segment).toBeCloseTo(oracle.tables.segment_norm, 9);
  const sentence = figure.describe(data, state);
  for (const length of Object.values(data.lengths as Record<string, number>))
    expect(sentence).toContain(length.toPrecision(2));
  // Ten sentences have no rows of their own, and nothing is said of lengths.
  const ten = await run(heads, { sentences: 'ten' });
  expect(ten.figure.describe(ten.data, ten.state)).not.toContain('LayerNorm');
});

// tests/api compares the library's canonical shares with tables and an oracle of their own.
test.runIf(inject('withModel'))('canonical shares, which the figure names', async () => {
  const result = await run(heads);
  expectSoundPictures(result);
  const scores = await (await loadMiniLM(await load())).decompose(heads.figure.controls.text.initial, {
    groups,
    gauge: 'canonical',
  });
  for (const head of scores.heads) {
    const shares = sharesOf(scores, head);
    close(
      result.data.rows[head].shares,
      [0, 1, 3, 4].map((term) => shares[term]),
    );
  }
  const texts = result.figure
    .scene(result.data, result.state, 600)
    .marks.flatMap((mark) => (mark.mark === 'text' ? [mark.text] : []));
  expect(texts.join('\n')).toContain('canonical gauge');
  expect(result.figure.describe(result.data, result.state)).toContain('canonical gauge');
  const { columns, rows } = result.figure.table(result.data, result.state);
  expect(columns.at(-1)).toBe('gauge');
  for (const row of rows) expect(row.at(-1)).toBe('canonical');
});

test.runIf(inject('withModel')).each(['', 'x', 'many words '.repeat(300)])(
  'a text of any length: %#',
  async (text) => {
    const result = await run(heads, { text });
    expectSoundPictures(result);
    for (let i = 0; i < 14; i++)
      expect(result.figure.readout(result.data, result.state, { i, j: 0 }).length).toBe(13);
  },
);

test.runIf(inject('withModel'))('the ten sentences fetch the megabytes that their control says', async () => {
  const model = await loadMiniLM(await load());
  const folder = new URL('../../build/model/', import.meta.url);
  const manifest: Manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));
  const words = Object.values(manifest.files)
    .flat()
    .find(({ name }) => name === 'words-#.bin') as Piece;
  const sentences = await Promise.all(heads.tenSentences.map((text) => model.tokenize(text)));
  const ids = sentences.flatMap((sentence) => sentence.ids);
  const isNeeded = ({ begin, end }: { begin: number; end: number }) =>
    ids.some((id) => begin <= 768 * id && 768 * id < end);
  const needed = filesOfPiece(words).filter(isNeeded);
  const bytes = needed.reduce((sum, { name }) => sum + statSync(new URL(name, folder)).size, 0);
  expect(heads.figure.controls.sentences.options.ten).toContain(`${Math.round(bytes / 1e6)} MB`);
});

test.runIf(inject('withModel'))('shares of a later layer are those that the command prints', async () => {
  const text = 'The dog bit the man, and the man bit the dog.';
  const result = await run(heads, { layer: 1, text });
  expectSoundPictures(result);
  expect(result.figure.describe(result.data, result.state)).toContain('in layer 1');
  const command = fileURLToPath(new URL('../../build/package/node/command.js', import.meta.url));
  const args = ['decompose', '--text', text, '--layer', '1', '--gauge', 'canonical', '--json'];
  const { columns, rows } = JSON.parse(
    execFileSync(process.execPath, [command, ...args], { encoding: 'utf8' }),
  );
  const kinds = ['token → token', 'token → position', 'position → token', 'position → position'];
  expect(rows).toHaveLength(12);
  for (const [head, row] of (rows as number[][]).entries())
    kinds.forEach((name, kind) => {
      expect(result.data.rows[head].shares[kind], `${head} ${name}`).toBeCloseTo(
        row[columns.indexOf(name)] as number,
        // Both numbers are in float; for one of them parts are merged before they are projected, for the
        // other afterwards.
        6,
      );
    });
});

test.runIf(inject('withModel'))(
  'a bar that is clicked opens its head, in the layer whose scores are taken apart',
  async () => {
    const { figure, data, state } = await run(heads, { text: 'the bank', gauge: 'raw' });
    const opened = figure.opens?.(data, state, { i: 7, j: 0 });
    expect(opened).toMatchObject({
      figure: { name: 'one-score', title: oneScore.figure.title },
      state: { head: 7, gauge: 'raw', text: 'the bank' },
    });
    for (const [name, control] of Object.entries(opened?.figure.controls ?? {}))
      expect(oneScore.figure.controls).toHaveProperty([name, 'kind'], (control as { kind: string }).kind);
    const link = opened && writeLink(opened.figure.name, opened.figure.controls, opened.state);
    expect(link).toContain('&head=7');
    expect(link).not.toContain('undefined');
    // The rows of the mean and of all heads pooled belong to no head.
    for (const i of [12, 13]) expect(figure.opens?.(data, state, { i, j: 0 })).toBeUndefined();
    expect(figure.opens?.(data, { ...state, layer: 1 }, { i: 7, j: 0 })).toBeUndefined();
  },
);
