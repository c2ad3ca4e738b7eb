// refusals.txt is one table of wrong calls, each with its sentence below it. Under the name of a function
// are changes to its right call; under any other heading are whole calls. To add a call, write it there;
// then `npx vitest run -c tests/vitest.config.ts --project node api/refusals -u` writes every sentence,
// which you review in the diff. Mistakes that every argument of a kind can have are in
// wrongArguments.test.ts, and the bytes that a call needs are in memory.test.ts.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as library from 'add-or-concatenate';
import { expect, inject, test } from 'vitest';
import { addResidentBytes } from '../../build/package/check.js';
import { builds, plain } from './support/builds.ts';
import { model } from './support/model.ts';
import { left } from './support/refusals.ts';
import { linear, rightCalls, scores, table } from './support/rightCalls.ts';

type Call = (...args: unknown[]) => unknown;

const file = fileURLToPath(new URL('./refusals.txt', import.meta.url));
const indent = '    ';
const minilm = inject('withModel') ? await model() : undefined;

const projections = { query: linear(4, 4), key: linear(4, 4), heads: 2 };
const summands = { token: table(3, 4), position: table(3, 4) };
const batch = { n: 3, tokens: [0, 1, 2], targets: [0, 1, 2] };
const ownTrainer = { evaluation: batch, vocabulary: 3, classes: 3, d_model: 4, heads: 2 };
const values = {
  table,
  linear,
  scores,
  minilm,
  projections,
  summands,
  batch,
  ownTrainer,
  bothHeads: plain.decompose({ summands, ...projections }),
  entry: { name: 'w', dtype: 'F32', shape: [2], begin: 0, end: 8 },
  every: Array<boolean>(9).fill(true),
  model: rightCalls.positionCost?.sound[1],
  directions: table(2, 4),
};

/** The calls of each section. */
const sections = readFileSync(file, 'utf8')
  .split(/^# /m)
  .slice(1)
  .map((text) => {
    const [name = '', ...lines] = text.trimEnd().split('\n');
    return { name, lines, calls: lines.filter((line) => !line.startsWith(indent)) };
  });

test.each(builds)('are those of refusals.txt, before anything is allocated: $simd SIMD', async (build) => {
  const { superpose } = build;
  const functions = superpose as unknown as Record<string, Call>;
  const input = { tokens: table(7, 4), positions: table(3, 4) };
  using search = superpose.collisionSearch(input);
  using layer = superpose.layer(projections);
  using trainer = superpose.trainer(ownTrainer);
  using taskTrainer = superpose.trainer({ task: 'lookup', n: 4, d_model: 8 });
  using ropeTrainer = superpose.trainer({ task: 'lookup', n: 4, d_model: 4, scheme: 'rope' });
  const deleted = superpose.collisionSearch(input);
  const deletedLayer = superpose.layer(projections);
  const deletedTrainer = superpose.trainer(ownTrainer);
  for (const handle of [deleted, deletedLayer, deletedTrainer]) handle.delete();
  const ofScheme = superpose.schemeScores({ scheme: 'none', content: table(3, 4), heads: 2 });
  const objects = { search, layer, trainer, taskTrainer, ropeTrainer, deleted, deletedLayer, deletedTrainer };
  const names = { ...library, ...superpose, ...values, superpose, ofScheme, ...objects };
  const evaluate = (code: string) =>
    new Function(...Object.keys(names), `return (${code});`)(...Object.values(names));

  const callOf = (section: string, line: string) => {
    const [first, ...rest] = rightCalls[section]?.sound ?? [];
    const change = evaluate(line);
    return first ? functions[section]?.({ ...first, ...change }, ...rest) : change;
  };

  /** The class and the sentence of what a call throws. */
  const refusal = async (section: string, line: string): Promise<string> => {
    const before = superpose.memoryBytes();
    const resident = section === 'With nothing left' ? left() : 0;
    addResidentBytes(resident);
    try {
      await callOf(section, line);
    } catch (error) {
      const { name, message } = error as Error;
      expect(message, line).toMatch(/^[^\n]{15,400}[.?]$/);
      expect(superpose.memoryBytes(), line).toBe(before);
      return `${line}\n${indent}${name}: ${message}`;
    } finally {
      addResidentBytes(-resident);
    }
    throw new Error(`${section}: ${line} was not refused.`);
  };

  const texts: string[] = [];
  for (const { name, lines, calls } of sections) {
    // Sections that cannot be run here stay as they are.
    const stays = name === 'MiniLM' && !minilm;
    const sentences: string[] = [];
    for (const call of stays ? [] : calls) sentences.push(await refusal(name, call));
    texts.push(`# ${name}\n${(stays ? lines : sentences).join('\n')}\n`);
  }
  await expect(texts.join('\n')).toMatchFileSnapshot(file);
});
