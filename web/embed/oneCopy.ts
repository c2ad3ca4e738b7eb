// If a page has several copies of Superpose, of one version or two, one works: the first whose files load. The console says
// which that is.
const mark = Symbol.for('superpose');
const element = 'superpose-figure';

interface Copy {
  version: string;
  start(): void;
}

/** What the copies of a page know of one another. */
interface Copies {
  /** Of the one that is used, or tried. */
  version: string;
  /** They wait in case it fails. */
  next: Copy[];
}

const page = globalThis as { [mark]?: Copies };

/** Starts this copy if it is the first. Otherwise it waits in case that fails. */
export function startOneCopy(version: string, start: () => void): void {
  const copies = page[mark];
  const unused = `Superpose ${version} is not used on this page`;
  if (copies) {
    // Another copy of the same version is the same.
    if (![copies, ...copies.next].some((copy) => copy.version === version))
      console.info(`${unused}, unless version ${copies.version}, which came first, cannot be loaded.`);
    copies.next.push({ version, start });
  } else if (customElements.get(element)) {
    console.info(`${unused}: something else has defined the element ${element}.`);
  } else {
    page[mark] = { version, next: [] };
    start();
  }
}

/** The first could not be loaded: the next one is tried. Says what becomes of the page's figures. */
export function startNextCopy(): string {
  const copies = page[mark];
  const copy = customElements.get(element) ? undefined : copies?.next.shift();
  if (!copies || !copy) return 'the pictures stay';
  copies.version = copy.version;
  copy.start();
  return `another copy, of version ${copy.version}, is tried`;
}
