// The project's own sentences: means that were published over them are of these, letter by letter.
import { corpusSentences } from 'superpose';
import { expect, test } from 'vitest';

test('128 plain sentences of 7 to 19 words, each once', async () => {
  expect(corpusSentences).toHaveLength(128);
  expect(new Set(corpusSentences).size).toBe(128);
  for (const sentence of corpusSentences) {
    expect(sentence).toMatch(/^[A-Z][A-Za-z, -]*[.?]$/);
    expect(sentence).not.toContain('  ');
  }
  const words = corpusSentences.map((sentence) => sentence.split(' ').length);
  expect([Math.min(...words), Math.max(...words)]).toEqual([7, 19]);
  expect(words.reduce((sum, count) => sum + count, 0)).toBe(1656);
  const all = new TextEncoder().encode(corpusSentences.join('\n'));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', all));
  expect([...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('')).toBe(
    '780cf059189c65ba',
  );
});
