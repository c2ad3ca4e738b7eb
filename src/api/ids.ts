// Ids of tokens and classes, checked; apart from check.ts, since a page’s first figure takes none.
import * as check from './check.js';
import type { Ids } from './table.js';

/** Ids from `low` to `high` as plain numbers, in a copy that later changes by the caller do not reach. */
export function checkedIds(name: string, value: unknown, low: number, high: number): Int32Array {
  // By its name, since in a frame or in node:vm a class is another one.
  const kind = Object.prototype.toString.call(value);
  if (!/^\[object (Array|(Big)?(Int|Uint)\d+(Clamped)?Array)\]$/.test(kind))
    check.refuse(name, 'an array of whole numbers', value, false);
  const list = value as Ids;
  const found = new Int32Array(list.length);
  for (let at = 0; at < found.length; at++) {
    const one = list[at];
    const id = typeof one === 'bigint' ? Number(one) : (one as number);
    // Every step's ids come through here, so a message is made only for a wrong one.
    if (!(id >= low && id <= high && Number.isInteger(id)))
      check.integer(`an entry of ${name}`, id, low, high);
    found[at] = id;
  }
  return found;
}
