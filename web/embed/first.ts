// Of several copies of Superpose on one page, in one version or in two, the first is the one that works.
const mark = Symbol.for('superpose');
const element = 'superpose-figure';

interface Marked {
  version: string;
  told?: true;
}

/** Whether this copy is the first; a later one says once that it is not. */
export function isFirst(version: string): boolean {
  const page = globalThis as { [mark]?: Marked };
  const first = page[mark];
  if (!first && !customElements.get(element)) {
    page[mark] = { version };
    return true;
  }
  if (!first?.told) {
    console.info(
      `Superpose ${version} is not used here: version ${first?.version ?? 'unknown'} was loaded first, and stays.`,
    );
    if (first) first.told = true;
  }
  return false;
}
