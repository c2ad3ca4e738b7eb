// The picture of tests/reference/families.json as image models read it.
import type { Table } from 'superpose';
import families from '../../reference/families.json' with { type: 'json' };

/** [patches, 3 · p · p], row by row, colour by colour. */
export const oraclePatches: Table<Float64Array> = (() => {
  const { pixels, side, grid } = families;
  const rows = [];
  for (let place = 0; place < grid ** 2; place++) {
    for (const colour of pixels) {
      for (let pixel = 0; pixel < side ** 2; pixel++) {
        const [y, x] = [Math.floor(place / grid) * side, (place % grid) * side];
        rows.push(colour[y + Math.floor(pixel / side)]?.[x + (pixel % side)] as number);
      }
    }
  }
  return { data: Float64Array.from(rows), rows: grid ** 2, columns: 3 * side ** 2 };
})();
