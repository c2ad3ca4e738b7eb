// Where figures are: on their own page or on somebody else's.
export const hostPage = {
  /** On somebody else's page figures share nothing unless asked to, and link to their own page. */
  foreign: false,
  /** Address of the page of all figures, ending in a slash; undefined if there is none. */
  home: undefined as string | undefined,
};

/** The address that a link to a state begins with. */
export const linkBase = (): string | undefined =>
  hostPage.foreign ? hostPage.home : location.href.split('#')[0];
