// Whether the words in a picture overlap.
import { expect } from 'vitest';
import type { State } from '../../web/figures/controls.ts';
import type { AnyFigure } from '../../web/figures/figure.ts';
import type { TextMark } from '../../web/plot/scene.ts';

/** The box of a text, taking letters to be half as wide as high, which is narrower than average. */
function boxOf({ x, y, text, anchor, size = 12 }: TextMark) {
  const long = 0.5 * size * text.length;
  const left = anchor === 'end' ? x - long : anchor === 'middle' ? x - long / 2 : x;
  return { left, right: left + long, top: y - 0.7 * size, bottom: y };
}

export function expectTextsApart({
  figure,
  data,
  state,
}: {
  figure: AnyFigure;
  data: unknown;
  state: State;
}) {
  for (const width of [280, 350, 480, 700, 860, 1048]) {
    const texts = figure
      .scene(data, state, width)
      .marks.filter((mark): mark is TextMark => mark.mark === 'text' && mark.text !== '' && !mark.turn);
    texts.forEach((one, place) => {
      for (const other of texts.slice(place + 1)) {
        const [a, b] = [boxOf(one), boxOf(other)];
        const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        expect(apart, `${width}: “${one.text}” is over “${other.text}”`).toBe(true);
      }
    });
  }
}
