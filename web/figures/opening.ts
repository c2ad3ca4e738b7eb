// Which figures are fetched early with the page, and which open with recorded runs.

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
