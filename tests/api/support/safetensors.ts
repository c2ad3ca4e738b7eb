// Safetensors files made for the tests, sound and unsound, and a half-precision decoder from the
// definition of IEEE 754.

/**
 * A file with this header and so many bytes of data; `length` is the header's length as the file states it.
 */
export function file(header: string, dataBytes = 0, length?: number | bigint): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length ?? text.length), true);
  bytes.set(text, 8);
  return bytes;
}

/** A sound file of these tensors. */
export function fileOf(
  tensors: Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>,
): Uint8Array {
  let offset = 0;
  const header = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    const data_offsets = [offset, offset + bytes.length];
    offset += bytes.length;
    return `${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets })}`;
  });
  const whole = file(`{${header.join(',')}}`, offset);
  let at = whole.length - offset;
  for (const { bytes } of Object.values(tensors)) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
}

export function floatFromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}
