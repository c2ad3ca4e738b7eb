// The table of contents, a list beside the text or a bar above it, shows where the reader is.

/** The section at this share of the window's height is the current one. */
const line = 0.4;

export function followSections(nav: HTMLElement): void {
  const button = nav.querySelector('button') as HTMLButtonElement;
  const links = [...nav.querySelectorAll('a')];
  const linkTo = new Map(links.map((link) => [link.hash.slice(1), link]));
  const show = (open: boolean) => {
    nav.toggleAttribute('data-open', open);
    button.setAttribute('aria-expanded', String(open));
  };
  const views = new IntersectionObserver(
    (entries) => {
      const link = linkTo.get(entries.findLast(({ isIntersecting }) => isIntersecting)?.target.id ?? '');
      if (!link) return;
      for (const one of links) one.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'location');
      button.textContent = `${links.indexOf(link) + 1}/${links.length} ${link.textContent}`;
      nav.style.setProperty('--read', String((links.indexOf(link) + 1) / links.length));
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
  nav.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !nav.hasAttribute('data-open')) return;
    show(false);
    button.focus();
  });
}
