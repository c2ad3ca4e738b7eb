// The figures of the page's first screen, in their order, and what is done for them alone.

interface Opening {
  /** Its code and its picture are fetched with the page, before the layout shows which figures are near. */
  early?: true;
  /** It opens with recorded runs, so the library is fetched only when it trains. */
  recorded?: true;
  /** The width of its column in a wide window, in pixels; without one it has the page's. */
  column?: number;
}

export const openingFigures: Record<string, Opening> = {
  'one-layer': { early: true },
  'add-or-concatenate': { early: true, recorded: true, column: 724 },
  language: { column: 412 },
};
