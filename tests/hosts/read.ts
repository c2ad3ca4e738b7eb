// What is read in a host's page. Each function is self-contained: it is sent into the page.

export interface Styles {
  [element: string]: string;
}

/** Records how the host's own elements look, for `changedStyles`. */
export function noteStyles(): number {
  const told = ['color', 'backgroundColor', 'fontFamily', 'fontSize', 'fontWeight', 'lineHeight'] as const;
  const more = ['margin', 'padding', 'display', 'letterSpacing', 'textAlign', 'width'] as const;
  const look = (one: Element) => {
    const style = getComputedStyle(one);
    return [...told, ...more].map((name) => `${name}: ${style[name]}`).join('; ');
  };
  const noted = [...document.querySelectorAll('body, p, h1, h2, li, code, em, strong')]
    .filter(
      (one) =>
        !one.closest('nav, aside, header, footer, superpose-figure') && one.getClientRects().length > 0,
    )
    .map((one) => ({ one, look: look(one) }));
  Object.assign(window, { hostStyles: { noted, look } });
  return noted.length;
}

export function changedStyles(): string[] {
  type Noted = { noted: { one: Element; look: string }[]; look(one: Element): string };
  const { noted, look } = (window as unknown as { hostStyles: Noted }).hostStyles;
  return noted
    .filter(({ one, look: before }) => one.isConnected && look(one) !== before)
    .map(({ one, look: before }) => {
      const was = before.split('; ');
      return `${one.localName}: ${look(one)
        .split('; ')
        .filter((text, place) => text !== was[place])
        .join('; ')} (was ${was.filter((text) => !look(one).includes(text)).join('; ')})`;
    });
}

/** How a figure looks inside, whatever is around it. Font lists keep the quotes of the style's author. */
export function insideStyles(place: number): Styles {
  const root = document.querySelectorAll('superpose-figure')[place]?.shadowRoot;
  const names = [
    'color',
    'fontFamily',
    'fontSize',
    'fontStyle',
    'fontWeight',
    'lineHeight',
    'letterSpacing',
  ] as const;
  const more = [
    'wordSpacing',
    'textTransform',
    'textAlign',
    'textIndent',
    'direction',
    'display',
    'whiteSpace',
  ] as const;
  const last = ['visibility', 'textShadow', 'borderRadius', 'boxShadow', 'listStyleType'] as const;
  return Object.fromEntries(
    [
      '.root',
      'h3',
      '.controls',
      '.controls label',
      'input',
      '.readout',
      '.finding',
      'summary',
      'button',
      '.menu > summary',
    ].map((selector) => {
      const one = root?.querySelector(selector);
      const style = one && getComputedStyle(one);
      return [
        selector,
        style
          ? [...names, ...more, ...last]
              .map((name) => `${name}: ${style[name]}`)
              .join('; ')
              .replaceAll('"', '')
          : '',
      ];
    }),
  );
}

/** For a figure or a frame: the theme of the page around it, and its own. */
export function themes(selector: string, place: number): { around: string; own: string } {
  const canvas = document.createElement('canvas');
  const pixel = canvas.getContext('2d') as CanvasRenderingContext2D;
  const read = (colour: string) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
    return alpha < 128 ? '' : red + green + blue < 384 ? 'dark' : 'light';
  };
  const one = document.querySelectorAll(selector)[place];
  // A figure's text contrasts with its background: dark text means a light theme.
  const root = one?.shadowRoot?.querySelector('.root');
  const own = root ? (read(getComputedStyle(root).color) === 'dark' ? 'light' : 'dark') : '';
  for (let up = one?.parentElement; up; up = up.parentElement) {
    const around = read(getComputedStyle(up).backgroundColor);
    if (around) return { around, own };
  }
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.cssText = 'background:Canvas';
  const around = read(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return { around, own };
}

/** Records every movement of what the reader sees while nobody scrolls, and Chromium's own measure of it. */
export function watchShifts(): void {
  const shifts = { moved: 0, what: '', score: 0, still: true };
  Object.assign(window, { hostShifts: shifts });
  try {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.score += (entry as unknown as { value: number }).value;
    }).observe({ type: 'layout-shift' });
  } catch {
    // Only Chromium counts them.
  }
  const all = () => [
    ...document.querySelectorAll('p, h2, iframe, superpose-figure:defined, superpose-figure img'),
  ];
  let before = new Map<Element, number>();
  const look = () => {
    const now = new Map<Element, number>();
    for (const one of all()) {
      const { top, bottom, height } = one.getBoundingClientRect();
      if (height > 0 && bottom > 0 && top < innerHeight) now.set(one, top);
    }
    for (const [one, top] of shifts.still ? now : []) {
      const moved = Math.abs(top - (before.get(one) ?? top));
      if (moved > shifts.moved + 1) Object.assign(shifts, { moved, what: one.localName });
    }
    before = now;
    requestAnimationFrame(look);
  };
  look();
}

export interface Shifts {
  /** How far the element that moved most moved, in pixels, and which it is. */
  moved: number;
  what: string;
  /** As Chromium counts it; 0 in other browsers. */
  score: number;
}

export function readShifts(): Shifts {
  return (window as unknown as { hostShifts: Shifts }).hostShifts;
}

/** Scrolls one step towards an element, as a reader would; returns whether it is reached. */
export function stepTo(selector: string, place: number, more = 0): boolean {
  const shifts = (window as unknown as { hostShifts: { still: boolean } }).hostShifts;
  const one = document.querySelectorAll(selector)[place];
  if (!one) return true;
  const { top } = one.getBoundingClientRect();
  const wanted = top - innerHeight * 0.15 + more;
  const before = scrollY;
  shifts.still = false;
  scrollBy({ top: Math.min(200, Math.max(-200, wanted)), behavior: 'instant' });
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      shifts.still = true;
    }),
  );
  return Math.abs(wanted) < 200 || scrollY === before;
}

export interface FrameRead {
  height: number;
  needs: number;
  wide: boolean;
}

/** In a frame: whether its contents fit. */
export function readFrame(): FrameRead {
  const { scrollHeight, scrollWidth, clientWidth } = document.documentElement;
  return { height: innerHeight, needs: scrollHeight, wide: scrollWidth > clientWidth };
}

export function frameTheme(): string {
  const root = document.querySelector('superpose-figure')?.shadowRoot?.querySelector('.root');
  const ink =
    root &&
    getComputedStyle(root)
      .color.match(/[\d.]+/g)
      ?.map(Number);
  return ink ? ((ink[0] ?? 0) + (ink[1] ?? 0) + (ink[2] ?? 0) < 384 ? 'light' : 'dark') : '';
}

export interface PictureRead {
  drawn: boolean;
  link: string;
}

export function readPicture(selector: string, place: number): PictureRead {
  const image = document.querySelectorAll<HTMLImageElement>(selector)[place];
  return { drawn: (image?.naturalWidth ?? 0) > 0, link: image?.closest('a')?.href ?? '' };
}

export function attributesAt(place: number): Record<string, string> {
  const one = document.querySelectorAll('superpose-figure')[place];
  return Object.fromEntries([...(one?.attributes ?? [])].map(({ name, value }) => [name, value]));
}

/** Text on the page that was meant as markup of a snippet. */
export function spilled(): string[] {
  const text = document.body.innerText;
  return ['<superpose', '</superpose', '<iframe', '<script', '{{', '{%', 'superpose-figure', '&lt;'].filter(
    (one) => text.includes(one),
  );
}
