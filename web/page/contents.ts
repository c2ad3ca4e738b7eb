// Makes the table of contents, a list beside the text or a bar above it, show where the reader is.

/** The section at this share of the window's height is the current one. */
const line = 0.25;

export function followSections(nav: HTMLElement): void {
  const button = nav.querySelector('button') as HTMLButtonElement;
  const links = [...nav.querySelectorAll<HTMLAnchorElement>('li:not(.presents, .leads-on) a')];
  const linkTo = new Map(links.map((link) => [link.hash.slice(1), link]));
  const show = (open: boolean) => {
    nav.toggleAttribute('data-open', open);
    button.setAttribute('aria-expanded', String(open));
  };
  const read = new Set<string>();
  let atEnd = false;
  const update = () => {
    for (const other of links) other.removeAttribute('aria-current');
    // Above the first section, no section is current.
    const link = atEnd ? links.at(-1) : linkTo.get([...read].at(-1) ?? '');
    link?.setAttribute('aria-current', 'location');
    const passed = link ? links.indexOf(link) + 1 : 0;
    button.textContent = link ? `${passed}/${links.length} ${link.textContent}` : 'Contents';
    nav.style.setProperty('--read', String(passed / links.length));
  };
  const views = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) read.add(target.id);
        else read.delete(target.id);
      }
      update();
    },
    { rootMargin: `-${100 * line}% 0px -${100 * (1 - line)}% 0px` },
  );
  // The last section may be too short to reach that line.
  const ends = new IntersectionObserver(
    ([end]) => {
      atEnd = (end?.intersectionRatio ?? 0) > 0.9;
      update();
    },
    { threshold: 0.9 },
  );
  const footer = document.querySelector('footer');
  if (footer) ends.observe(footer);
  for (const name of linkTo.keys()) {
    const section = document.getElementById(name);
    if (section) views.observe(section);
  }
  button.hidden = false;
  button.addEventListener('click', () => show(!nav.hasAttribute('data-open')));
  // While the bar is open it covers the window around the list, so a tap there closes it and does nothing
  // else.
  nav.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement || target === nav) show(false);
  });
  // A scroll closes it too, unless the list scrolls. It is recognized by its gesture, because pages also
  // scroll by themselves.
  const list = nav.querySelector('ol') as HTMLElement;
  const move = ({ target }: Event) => {
    if (target === nav || list.scrollHeight <= list.clientHeight) show(false);
  };
  for (const moves of ['wheel', 'touchmove']) nav.addEventListener(moves, move, { passive: true });
  nav.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !nav.hasAttribute('data-open')) return;
    show(false);
    button.focus();
  });
}
