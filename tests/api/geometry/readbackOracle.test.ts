// What can be read back from tokens plus positions, and what it costs, against
// tests/reference/readback.json. The library does not compute the estimate `at_typical_norms`.
//
// Bounds: the inputs are about 1 in size, with three decimals, so a sum of them is off by a few roundings of
// each addend, which every bound counts.
import type { PositionCostWay } from 'add-or-concatenate';
import { describe, expect, test } from 'vitest';
import readback from '../../reference/readback.json' with { type: 'json' };
import { builds } from '../support/builds.ts';
import { tableOf } from '../support/numbers.ts';

const u = 2 ** -53;

describe.each(builds)('$simd SIMD', ({ superpose }) => {
  describe.each(readback.collisions)('collisions: $name', (oracle) => {
    const [tokens, positions] = [tableOf(oracle.tokens), tableOf(oracle.positions)];

    test('the nearest token to each sum, and how many are lost', async () => {
      const search = superpose.collisionSearch({ tokens, positions });
      oracle.nearest_token.forEach((row, i) => {
        row.forEach((nearest, a) => {
          const result = search.nearestTokens(a);
          const lost = (result.margins[i] as number) < 0;
          expect(lost ? result.nearest[i] : a).toBe(nearest);
        });
      });
      const { lost } = await search.allWords();
      expect([...lost]).toEqual(oracle.error_by_position.map((error) => Math.round(error * tokens.rows)));
      search.delete();
    });
  });

  test('how likely two random tokens are to collide is a tail of the cosine law', () => {
    // The tail beyond √(d/2) / ρ of Student's law with d degrees of freedom is that of a cosine in d + 1
    // dimensions.
    for (const { d, rho, pair, at_typical_norms } of readback.pair_probabilities) {
      const ours = superpose.cosineTail({ epsilon: 1 / Math.sqrt(2 * rho * rho + 1), d: d + 1 }) / 2;
      // The logarithm of a tail of 1e-7 has the rounding error of terms of size d.
      expect(Math.abs(ours / pair - 1)).toBeLessThan(16 * d * u);
      expect(at_typical_norms).toBeLessThan(pair);
    }
  });

  describe('costs, which are whole numbers', () => {
    const base = {
      vocabulary: 30522,
      positions: 512,
      segments: 2,
      d_model: 768,
      heads: 12,
      layers: 12,
    };

    test.each(readback.costs.bert_base)('$name', ({ scheme, position_width, stream_width, total }) => {
      const shape = { ...base, d_position: position_width };
      const cost = superpose.positionCost(scheme as PositionCostWay, shape);
      expect(cost).toEqual({ width: stream_width, total });
    });

    test.each(readback.costs.scores_only)('positions in queries and keys alone, $heads heads', (oracle) => {
      const widths = { d_position: oracle.position_width, d_position_head: oracle.position_head_width };
      const shape = { ...base, heads: oracle.heads, layers: 3, ...widths };
      const more = superpose.positionCost('tupe', shape).total - superpose.positionCost('add', shape).total;
      // The table of positions is only as wide as the positions.
      expect(more).toBe(3 * oracle.parameters + 512 * (oracle.position_width - 768));
    });
  });
});
