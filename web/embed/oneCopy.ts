// Starts only one copy of Superpose on a page that has several, of the same or of different versions: the
// first whose files load. The console says which one it is.
const mark = Symbol.for('superpose');
const element = 'superpose-figure';

interface Copy {
  version: string;
  start(): void;
}

/** What the copies on a page share. */
interface Copies {
  /** The version of the copy that is used, or tried. */
  version: string;
  /** Copies that wait in case that copy fails. */
  next: Copy[];
}

const page = globalThis as { [mark]?: Copies };

/** Starts this copy if it is the first. Otherwise it waits in case the first fails. */
export function startOneCopy(version: string, start: () => void): void {
  const copies = page[mark];
  const unused = `Superpose ${version} is not used on this page`;
  if (copies) {
    // Another copy of the same version makes no difference, so it is not reported.
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

/** Starts the next copy after the first could not be loaded. Returns what becomes of the page's figures. */
export function startNextCopy(): string {
  const copies = page[mark];
  const copy = customElements.get(element) ? undefined : copies?.next.shift();
  if (!copies || !copy) return 'the pictures stay';
  copies.version = copy.version;
  copy.start();
  return `another copy, of version ${copy.version}, is tried`;
}
