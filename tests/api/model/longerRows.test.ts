// MiniLM's 512 position rows read at 1,024: what its embedding of a text that is twice too long is worth with rows copied,
// tiled and interpolated, beside that of the two halves read one after the other, and of the first half alone.
import { corpusSentences, type Table } from 'superpose';
import { expect, inject, test } from 'vitest';
import { plain } from '../support/builds.ts';
import { model } from '../support/model.ts';

type Rows = Table<Float32Array>;

/** More texts, and their numbers printed, when the variable is set. */
const texts = Number(process.env.SUPERPOSE_TEXTS ?? 2);

test.runIf(inject('withModel'))(
  'of tiled rows the embedding is nearest to that of both halves; of a copied one, far',
  async () => {
    const minilm = await model();
    const [cls = 0, , sep = 0] = minilm.tokenize('a').ids;
    const sentenceOf = (ids: number[]) => ({ ids, tokens: [], dropped: 0 });
    const { position } = await minilm.summands(sentenceOf(new Array<number>(512).fill(cls)), 'float32');
    /** Rows of the tokens of any number, 512 at a time. */
    const rowsOf = async (ids: number[]) => {
      const joined = {
        token: new Float32Array(384 * ids.length),
        token_type: new Float32Array(384 * ids.length),
      };
      for (let from = 0; from < ids.length; from += 512) {
        const rows = await minilm.summands(sentenceOf(ids.slice(from, from + 512)), 'float32');
        joined.token.set(rows.token.data, 384 * from);
        joined.token_type.set(rows.token_type.data, 384 * from);
      }
      const table = (data: Float32Array<ArrayBuffer>): Rows => ({ data, rows: ids.length, columns: 384 });
      return { token: table(joined.token), token_type: table(joined.token_type) };
    };
    const embedded = async (inner: number[], how: 'copied' | 'tiled' | 'interpolated' = 'tiled') => {
      const ids = [cls, ...inner, sep];
      const longer = plain.extendTable({ table: position as Rows, rows: ids.length, how });
      const summands = { ...(await rowsOf(ids)), position: longer };
      const run = await minilm.forward(sentenceOf(ids), { summands });
      return run.embedding as Float32Array;
    };
    const cosine = (one: ArrayLike<number>, other: ArrayLike<number>) => {
      let [product, left, right] = [0, 0, 0];
      for (let c = 0; c < 384; c++) {
        const [a, b] = [one[c] as number, other[c] as number];
        [product, left, right] = [product + a * b, left + a * a, right + b * b];
      }
      return product / Math.sqrt(left * right);
    };
    const found: Record<string, number[]> = { copied: [], tiled: [], interpolated: [], 'first half': [] };
    for (let text = 0; text < texts; text++) {
      // Other sentences first each time, and enough of them.
      const turned = [...corpusSentences.slice(25 * text), ...corpusSentences.slice(0, 25 * text)];
      const inner = [...turned, ...turned]
        .flatMap((one) => minilm.tokenize(one).ids.slice(1, -1))
        .slice(0, 1020);
      const halves = [await embedded(inner.slice(0, 510)), await embedded(inner.slice(510))] as const;
      const both = halves[0].map((value, c) => value + (halves[1][c] as number));
      for (const how of ['copied', 'tiled', 'interpolated'] as const)
        found[how]?.push(cosine(await embedded(inner, how), both));
      found['first half']?.push(cosine(halves[0], both));
    }
    if (process.env.SUPERPOSE_TEXTS) {
      for (const [name, all] of Object.entries(found))
        console.info(name, all.map((one) => one.toFixed(3)).join(' '));
    }
    for (let text = 0; text < texts; text++) {
      const at = (name: string) => found[name]?.[text] as number;
      expect(at('tiled')).toBeGreaterThan(at('interpolated'));
      expect(at('interpolated')).toBeGreaterThan(at('copied') + 0.1);
    }
  },
  300_000,
);
