// The texts that the reader has given the page, by the name of their setting: a sentence, or ids of tokens.
// Every figure of the page that takes such a text shows it, however late the figure loads, until the reader
// takes the text back.
// The tab remembers them, also on the site's other pages and after a reload.

type Texts = Readonly<Record<string, string>>;

const key = 'superpose-texts';

/** In some frames, access to storage throws. */
function stored(): Texts {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}');
  } catch {
    return {};
  }
}

let texts: Texts | undefined;

export function pageTexts(): Texts {
  texts ??= stored();
  return texts;
}

/** The detail of an event `superpose-text`: the texts that have changed; undefined if one was taken back. */
export type ChangedTexts = Readonly<Record<string, string | undefined>>;

/** Sets the page's texts, by default those of the tab, and tells its figures which have changed. */
export function setPageTexts(next: Texts = stored()): void {
  const before = pageTexts();
  const changed = Object.keys({ ...before, ...next }).filter((name) => before[name] !== next[name]);
  if (changed.length === 0) return;
  texts = next;
  try {
    sessionStorage.setItem(key, JSON.stringify(next));
  } catch {}
  const detail: ChangedTexts = Object.fromEntries(changed.map((name) => [name, next[name]]));
  document.dispatchEvent(new CustomEvent('superpose-text', { detail }));
}

export const forgetPageTexts = (names: readonly string[]): void =>
  setPageTexts(Object.fromEntries(Object.entries(pageTexts()).filter(([name]) => !names.includes(name))));
