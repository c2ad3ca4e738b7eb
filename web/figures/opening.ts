// The figure of the page's first screen, and what is done for figures that a page opens with.

interface Opening {
  /** Its code and its picture are fetched with the page, before the layout shows which figures are near. */
  early?: true;
  /** It opens with recorded runs, so the library is fetched only when it trains. */
  recorded?: true;
}

export const openingFigures: Record<string, Opening> = {
  'one-layer': { early: true },
  'add-or-concatenate': { recorded: true },
};
