// Goes on to the page that has what an address names, if this page does not have it.

/** The site's folder: scripts are in assets/ below it. */
export const home = new URL(/* @vite-ignore */ '../', import.meta.url).href;

/** The name of the figure or section that the fragment of an address leads to, perhaps by way of a slide. */
export function placeOf(fragment: string): string {
  const asked = fragment.replace(/^#(present\/)?/, '');
  const figure = /^v=.*?&figure=([\w-]+)/.exec(asked)?.[1];
  // The figures of a reader's own file come with the card that opens it.
  if (figure?.startsWith('user-')) return 'user-model';
  return figure ?? (asked.split('/')[0] as string);
}

/** Whether another page has what the fragment names; if so, the browser goes there. */
export function goElsewhere(fragment: string): boolean {
  const place = placeOf(fragment);
  const [folder] =
    Object.entries(__SUPERPOSE_PLACES__).find(([, names]) => names.split(' ').includes(place)) ?? [];
  if (folder === undefined) return false;
  const page = new URL(folder + fragment, home);
  if (page.pathname === location.pathname.replace(/index\.html$/, '')) return false;
  location.replace(page);
  return true;
}
