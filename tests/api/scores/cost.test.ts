import type { ModelShape } from 'superpose';
import { describe, expect, test } from 'vitest';
import { builds } from '../support/builds.ts';

const bertBase: ModelShape = {
  vocabulary: 30522,
  positions: 512,
  segments: 2,
  d_model: 768,
  heads: 12,
  layers: 12,
};

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  const { positionCost } = superpose;

  test('the totals of BERT-base', () => {
    expect(positionCost('add', bertBase)).toMatchObject({
      total: 109_482_240,
      embedding: 23_837_184,
      layer: 7_087_872,
      headsDivide: true,
    });
  });

  test.each([
    [64, 123_979_968, false],
    [256, 175_779_840, false],
    [768, 366_177_792, true],
  ])('wide by %i', (d_position, total, headsDivide) => {
    expect(positionCost('concat-wide', { ...bertBase, d_position })).toMatchObject({ total, headsDivide });
  });

  test('narrow, projected, and for queries and keys alone', () => {
    const add = positionCost('add', bertBase);
    const shape = { ...bertBase, d_position: 64, d_position_head: 32 };
    expect(positionCost('concat', shape).total - add.total).toBe(-2_313_984);
    const project = positionCost('project', shape);
    expect([project.projection, project.tables - add.tables]).toEqual([639_744, -360_448]);
    expect(positionCost('untied', shape).layer - add.layer).toBe(2 * 64 * 12 * 32);
  });

  test('the sequence is the positions, the ratio 4 and the pooler there unless given', () => {
    expect(positionCost('add', bertBase)).toEqual(
      positionCost('add', { ...bertBase, sequence: 512, ffnRatio: 4, pooler: true }),
    );
  });
});
