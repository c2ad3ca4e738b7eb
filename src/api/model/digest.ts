// A short digest of bytes, to tell files apart. It is no secret, and does not resist deliberate collisions.

/** FNV-1a over two lanes of 32 bits with different beginnings; 16 hexadecimal digits. */
export function digestOf(parts: Iterable<Uint8Array>): string {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (const part of parts) {
    for (const byte of part) {
      one = Math.imul(one ^ byte, 0x01000193);
      other = Math.imul(other ^ byte, 0x01000193) + (one >>> 15);
    }
  }
  return [one, other].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}
