// The filter of the reference: shows only the functions whose text has every word that the reader types.
// Without this script the page is complete.
export {};

const input = document.querySelector<HTMLInputElement>('#filter');
const status = document.querySelector<HTMLOutputElement>('#filtered');

interface Entry {
  section: HTMLElement;
  row: HTMLElement | null;
  text: string;
}

const entries = [...document.querySelectorAll<HTMLElement>('.entry')].map((section): Entry => {
  const link = document.querySelector(
    `.group dt a[href="#${CSS.escape(section.getAttribute('data-entry') ?? '')}"]`,
  );
  const row = link?.closest<HTMLElement>('div') ?? null;
  return { section, row, text: (section.textContent ?? '').toLowerCase() };
});
const groups = [...document.querySelectorAll<HTMLElement>('.group, .methods, .details')];

function filter(words: readonly string[]): void {
  let count = 0;
  for (const { section, row, text } of entries) {
    const fits = words.every((word) => text.includes(word));
    if (fits) count += 1;
    section.hidden = !fits;
    if (row) row.hidden = !fits;
  }
  for (const group of groups)
    group.hidden = !group.querySelector('.entry:not([hidden]), dl > div:not([hidden])');
  if (status) status.value = words.length > 0 ? `${count} of ${entries.length}` : '';
}

/** A link to what the filter hides removes the filter. */
function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!input || !target?.closest('[hidden]')) return;
  input.value = '';
  filter([]);
  target.scrollIntoView();
}

if (input) {
  const search = input.closest<HTMLElement>('[hidden]');
  if (search) search.hidden = false;
  const read = () => filter(input.value.toLowerCase().split(/\s+/).filter(Boolean));
  input.addEventListener('input', () => {
    read();
    document.getElementById('functions')?.scrollIntoView();
  });
  // A browser may restore the filter's text when the reader comes back.
  addEventListener('pageshow', read);
  addEventListener('hashchange', reveal);
}
