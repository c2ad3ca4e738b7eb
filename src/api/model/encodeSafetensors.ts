import * as check from '../check.js';
import type { Floats, OwnBytes, Table } from '../table.js';

export interface EncodeSafetensorsApi {
  /**
   * A safetensors file of tables, [rows, columns] each, and of lists, [length], F32 or F64 as given, in the given order.
   * `metadata` is the format’s own map from text to text. Throws RangeError, TypeError.
   */
  encodeSafetensors(
    tables: Readonly<Record<string, Table | Floats>>,
    metadata?: Readonly<Record<string, string>>,
  ): OwnBytes;
}

/** What writes files, by itself: it needs no module, and load() has it beside all else. */
export function encodeSafetensorsApi(): EncodeSafetensorsApi {
  return {
    encodeSafetensors(tables, metadata = {}) {
      check.object('tables', tables);
      check.object('metadata', metadata);
      for (const [key, text] of Object.entries(metadata)) {
        if (typeof text !== 'string') check.refuse(`metadata.${key}`, 'a text', text, false);
        unicode('A key of metadata', key);
        unicode(`metadata.${key}`, text);
      }
      if (Object.hasOwn(tables, '__metadata__'))
        throw new RangeError('tables must not have one called __metadata__: the format has that name.');
      const header: [string, unknown][] = [['__metadata__', metadata]];
      let bytes = 0;
      for (const name of Object.keys(tables)) unicode('A name of tables', name);
      const tensors = Object.entries(tables).map(checkedTensor);
      for (const { name, data, shape } of tensors) {
        const dtype = data instanceof Float32Array ? 'F32' : 'F64';
        const data_offsets = [bytes, bytes + data.byteLength];
        header.push([name, { dtype, shape, data_offsets }]);
        bytes += data.byteLength;
      }
      check.fits('The file', bytes);
      const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
      // Padded with spaces, so that the data begin at a multiple of eight.
      const length = Math.ceil(text.length / 8) * 8;
      const file = new Uint8Array(8 + length + bytes).fill(0x20, 8 + text.length, 8 + length);
      new DataView(file.buffer).setUint32(0, length, true);
      file.set(text, 8);
      let at = 8 + length;
      for (const { data } of tensors) {
        // Every engine that runs WebAssembly on common hardware is little-endian, as the format is.
        file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
        at += data.byteLength;
      }
      return file;
    },
  };
}

/** A file is UTF-8, which cannot hold half of a surrogate pair. */
function unicode(what: string, text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new RangeError(`${what} must be Unicode text; ${check.shown(text)} has half of a surrogate pair.`);
}

function checkedTensor([name, value]: [string, Table | Floats]) {
  if (value instanceof Float32Array || value instanceof Float64Array)
    return { name, data: value, shape: [value.length] };
  const { data, rows, columns } = check.table(`tables.${name}`, value);
  return { name, data, shape: [rows, columns] };
}
