// The table of contents, a list beside the text or a bar above it, shows where the reader is.

/** The section at this share of the window's height is the current one. */
const line = 0.25;

export function followSections(nav: HTMLElement): void {
  const button = nav.querySelector('button') as HTMLButtonElement;
  const links = [...nav.querySelectorAll<HTMLAnchorElement>('li a')];
  const linkTo = new Map(links.map((link) => [link.hash.slice(1), link]));
  const show = (open: boolean) => {
    nav.toggleAttribute('data-open', open);
    button.setAttribute('aria-expanded', String(open));
  };
  const read = new Set<string>();
  const views = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) read.add(target.id);
        else read.delete(target.id);
      }
      for (const one of links) one.removeAttribute('aria-current');
      // Above the first section, and below the last, one is in none.
      const link = linkTo.get([...read].at(-1) ?? '');
      link?.setAttribute('aria-current', 'location');
      const passed = link ? links.indexOf(link) + 1 : 0;
      button.textContent = link ? `${passed}/${links.length} ${link.textContent}` : 'Contents';
      nav.style.setProperty('--read', String(passed / links.length));
    },
    { rootMargin: `-${100 * line}% 0px -${100 * (1 - line)}% 0px` },
  );
  for (const name of linkTo.keys()) {
    const section = document.getElementById(name);
    if (section) views.observe(section);
  }
  button.hidden = false;
  button.addEventListener('click', () => show(!nav.hasAttribute('data-open')));
  nav.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement) show(false);
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (!nav.contains(target as Node)) show(false);
  });
  nav.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !nav.hasAttribute('data-open')) return;
    show(false);
    button.focus();
  });
}
