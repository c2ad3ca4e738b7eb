// What is read in a host's page. Each function is self-contained: it is sent into the page.

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

/** Adds up how much of what the reader sees moves by itself, as Chromium counts it; other engines count nothing. */
export function watchShifts(): void {
  Object.assign(window, { hostShifts: 0 });
  if (!PerformanceObserver.supportedEntryTypes.includes('layout-shift')) return;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      (window as unknown as { hostShifts: number }).hostShifts += (entry as never as { value: number }).value;
  }).observe({ type: 'layout-shift' });
}

export const readShifts = (): number => (window as unknown as { hostShifts: number }).hostShifts;

/** Scrolls one step towards an element, as a reader would; returns whether it is reached. */
export function stepTo(selector: string, place: number, more = 0): boolean {
  const one = document.querySelectorAll(selector)[place];
  if (!one) return true;
  const { top } = one.getBoundingClientRect();
  const wanted = top - innerHeight * 0.15 + more;
  const before = scrollY;
  scrollBy({ top: Math.min(200, Math.max(-200, wanted)), behavior: 'instant' });
  return Math.abs(wanted) < 200 || scrollY === before;
}

interface FrameRead {
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

interface PictureRead {
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
