// If a page has several copies of Superpose, of one version or two, one works: the first whose files load.
const mark = Symbol.for('superpose');
const element = 'superpose-figure';

/** What copies of all versions know of the first. */
interface Marked {
  version: string;
  told?: true;
  /** Copies that wait in case it fails. */
  next?: (() => void)[];
}

const page = globalThis as { [mark]?: Marked };

/** Starts this copy if it is the first. Otherwise it waits in case that fails; the console says so once. */
export function startOneCopy(version: string, start: () => void): void {
  const first = page[mark];
  if (!first && !customElements.get(element)) {
    page[mark] = { version, next: [] };
    start();
    return;
  }
  first?.next?.push(start);
  if (first?.told) return;
  console.info(
    `Superpose ${version} is not used here: version ${first?.version ?? 'unknown'} was loaded first, and stays.`,
  );
  if (first) first.told = true;
}

/** The first could not be loaded: the next one is tried. */
export function startNextCopy(): void {
  if (!customElements.get(element)) page[mark]?.next?.shift()?.();
}
