// Large model files, for measuring memory: the same numbers are repeated.
import { closeSync, openSync, writeSync } from 'node:fs';

/** Writes a safetensors file of these shapes, filled with `numbers` again and again, and returns its bytes. */
export function writeLargeModel(path, shapes, dtype, numbers) {
  let offset = 0;
  const header = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const begin = offset;
      offset += shape.reduce((product, extent) => product * extent, numbers.BYTES_PER_ELEMENT);
      return [name, { dtype, shape, data_offsets: [begin, offset] }];
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const chunk = Buffer.from(numbers.buffer);
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([length, text]));
  for (let left = offset; left > 0; left -= chunk.length)
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  closeSync(file);
  return 8 + text.length + offset;
}
