// One visit to a host's page in one browser: every way of its post is scrolled to, waited for and read.
import type { PlatformName } from '../../web/page/platforms.ts';
import { readFigures } from '../embed/support/figures.ts';
import { openChromium } from '../engines/chromium.ts';
import { type Engine, firefox, webkit } from '../engines/engines.ts';
import type { Host, Page, Pasted } from './hosts.ts';

export type Scheme = 'light' | 'dark';
export type Visitor = Engine & {
  resize(width: number, height: number): Promise<void>;
  /** Takes a screenshot of the window as a PNG. */
  shoot?(path: string): Promise<unknown>;
};

/** Chromium with its console messages. A missing icon is the host's own affair. */
async function heardChromium(scheme: Scheme): Promise<Visitor> {
  const engine = await openChromium({ scheme });
  const complaints: string[] = [];
  const { page } = engine;
  page.on('console', (message) => {
    if (message.type() === 'error' && !/favicon/.test(message.location().url))
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  return {
    ...engine,
    get complaints() {
      return [...engine.complaints, ...complaints];
    },
    shoot: (path) => page.screenshot({ path }),
  };
}

export const browsers = {
  chromium: heardChromium,
  firefox: (scheme: Scheme) => firefox({ scheme }) as Promise<Visitor>,
  webkit: (scheme: Scheme) => webkit({ scheme }) as Promise<Visitor>,
};

export interface Verdict {
  way: PlatformName;
  /** Whether the figure is live there, or its picture stands, as the way has it. */
  seen: boolean;
  /** Sentences about what is wrong. */
  wrong: string[];
}

const most = 0.02;
const pause = (milliseconds: number) => new Promise((later) => setTimeout(later, milliseconds));

async function until(met: () => Promise<boolean>, milliseconds = 20_000): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; await pause(100)) {
    if (await met().catch(() => false)) return true;
  }
  return false;
}

export interface Visit {
  page: Page;
  host: Host;
  visitor: Visitor;
  home: string;
  /** Where the screenshot of a way goes. */
  shot(way: string): string;
}

const selectorOf = ({ place, figure }: Pasted): string =>
  place === 'frame'
    ? 'iframe[src*="/figures/"]'
    : place === 'picture'
      ? `img[src$="/${figure}-wide.svg"]:not(superpose-figure img)`
      : 'superpose-figure';

export async function visit({ page, host, visitor, home, shot }: Visit): Promise<Verdict[]> {
  await visitor.open(page.address);
  await until(() => visitor.evaluate(() => document.readyState === 'complete'));
  await visitor.evaluate(watchShifts);
  const verdicts: Verdict[] = [];
  let before = 0;
  for (const pasted of page.ways) {
    await until(async () => {
      await pause(100);
      return visitor.evaluate(stepTo, selectorOf(pasted), 0);
    }, 60_000);
    const verdict = await read(visitor, pasted, host);
    // The part below loads while the reader goes on.
    await pause(300);
    const shifts = await visitor.evaluate(readShifts);
    if (shifts - before > most) verdict.wrong.push(`layout shift ${(shifts - before).toFixed(3)}`);
    before = shifts;
    verdicts.push(verdict);
    await visitor.shoot?.(shot(verdict.way));
  }
  const [first] = verdicts;
  for (const sentence of await visitor.evaluate(spilled))
    first?.wrong.push(`text that was markup: ${sentence}`);
  const ourComplaints = visitor.complaints.filter((text) => text.includes(home) || /superpose/i.test(text));
  for (const sentence of new Set(ourComplaints)) first?.wrong.push(`console: ${sentence}`);
  return verdicts;
}

async function read(visitor: Visitor, pasted: Pasted, { dark }: Host): Promise<Verdict> {
  const verdict: Verdict = { way: pasted.place, seen: false, wrong: [] };
  const look = pasted.place === 'picture' ? readLinked : pasted.place === 'frame' ? readFramed : readElement;
  const seen = await look(visitor, pasted, verdict);
  if (!verdict.seen || !seen) return verdict;
  await until(async () => (await seen()).around === (await seen()).figureTheme, 3000);
  const { around, figureTheme } = await seen();
  if (around !== figureTheme) verdict.wrong.push(`${figureTheme} on a ${around} page`);
  if (dark) verdict.wrong.push(...(await switched(visitor, dark, seen)));
  return verdict;
}

type Seen = (() => Promise<{ around: string; figureTheme: string }>) | undefined;

async function readLinked(visitor: Visitor, pasted: Pasted, verdict: Verdict): Promise<Seen> {
  const picture = () => visitor.evaluate(readPicture, selectorOf(pasted), 0);
  verdict.seen = await until(async () => (await picture()).drawn, 8000);
  const { link } = await picture();
  if (!sameAddress(link, pasted.link))
    verdict.wrong.push(`its link is ${link || 'none'}, not ${pasted.link}`);
  return undefined;
}

async function readElement(visitor: Visitor, pasted: Pasted, verdict: Verdict): Promise<Seen> {
  const shown = async () => (await visitor.evaluate(readFigures))[0];
  verdict.seen = await until(async () => (await shown())?.finding === pasted.finding);
  if (!verdict.seen) {
    const { finding, problem } = (await shown()) ?? {};
    verdict.wrong.push(`it says “${finding}” ${problem}, not “${pasted.finding}”`);
    return undefined;
  }
  const attributes = await visitor.evaluate(attributesAt, 0);
  for (const [name, text] of Object.entries(pasted.settings))
    if (attributes[name] !== text) verdict.wrong.push(`${name} is “${attributes[name]}”, not “${text}”`);
  return () => visitor.evaluate(themes, selectorOf(pasted), 0);
}

async function readFramed(visitor: Visitor, pasted: Pasted, verdict: Verdict): Promise<Seen> {
  const inFrame = async () => (await visitor.evaluateInFrame(readFigures))[0];
  verdict.seen = await until(async () => (await inFrame())?.finding === pasted.finding);
  if (!verdict.seen) {
    const shownFigure = await inFrame().catch(() => undefined);
    verdict.wrong.push(`the frame says “${shownFigure?.finding}”, not “${pasted.finding}”`);
    return undefined;
  }
  const fits = async () => {
    const { height, needs } = await visitor.evaluateInFrame(readFrame);
    return needs <= height && height - needs < 30;
  };
  if (!(await until(fits, 5000))) {
    const { height, needs } = await visitor.evaluateInFrame(readFrame);
    verdict.wrong.push(`the frame is ${height} px high and needs ${needs}`);
  }
  if ((await visitor.evaluateInFrame(readFrame)).wide)
    verdict.wrong.push('the frame is too narrow for what it shows');
  return async () => ({
    around: (await visitor.evaluate(themes, selectorOf(pasted), 0)).around,
    figureTheme: await visitor.evaluateInFrame(frameTheme),
  });
}

/** Whether two addresses are the same; engines write them in different ways. */
function sameAddress(text: string, other: string): boolean {
  const plain = (address: string) => {
    try {
      return decodeURIComponent(new URL(address).href.replaceAll('+', ' '));
    } catch {
      return address;
    }
  };
  return plain(text) === plain(other);
}

/** Uses the host's own switch, there and back. */
async function switched(
  visitor: Visitor,
  dark: (dark: boolean) => void,
  seen: () => Promise<{ around: string; figureTheme: string }>,
): Promise<string[]> {
  const wrong: string[] = [];
  const was = (await seen()).around === 'dark';
  for (const to of [!was, was]) {
    await visitor.evaluate(dark, to);
    const expected = to ? 'dark' : 'light';
    const follows = async () => {
      const { around, figureTheme } = await seen();
      return around === expected && figureTheme === expected;
    };
    if (await until(follows, 3000)) continue;
    const { around, figureTheme } = await seen();
    wrong.push(`switched to ${expected}: the page is ${around}, the figure ${figureTheme}`);
  }
  return wrong;
}

// What is read in the page. Each function is self-contained: it is sent into the page.

/** For a figure or a frame: the theme of the page around it, and its own. */
function themes(selector: string, place: number): { around: string; figureTheme: string } {
  const canvas = document.createElement('canvas');
  const pixel = canvas.getContext('2d') as CanvasRenderingContext2D;
  const read = (colour: string) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
    return alpha < 128 ? '' : red + green + blue < 384 ? 'dark' : 'light';
  };
  const element = document.querySelectorAll(selector)[place];
  // A figure's text contrasts with its background: dark text means a light theme.
  const root = element?.shadowRoot?.querySelector('.root');
  const figureTheme = root ? (read(getComputedStyle(root).color) === 'dark' ? 'light' : 'dark') : '';
  for (let up = element?.parentElement; up; up = up.parentElement) {
    const around = read(getComputedStyle(up).backgroundColor);
    if (around) return { around, figureTheme };
  }
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.cssText = 'background:Canvas';
  const around = read(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return { around, figureTheme };
}

/**
 * Adds up how much of what the reader sees moves by itself, as Chromium counts it; other engines count
 * nothing.
 */
function watchShifts(): void {
  Object.assign(window, { hostShifts: 0 });
  if (!PerformanceObserver.supportedEntryTypes.includes('layout-shift')) return;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      (window as unknown as { hostShifts: number }).hostShifts += (entry as never as { value: number }).value;
  }).observe({ type: 'layout-shift' });
}

const readShifts = (): number => (window as unknown as { hostShifts: number }).hostShifts;

/** Scrolls one step towards an element, as a reader would; returns whether it is reached. */
function stepTo(selector: string, place: number, more = 0): boolean {
  const element = document.querySelectorAll(selector)[place];
  if (!element) return true;
  const { top } = element.getBoundingClientRect();
  const expected = top - innerHeight * 0.15 + more;
  const before = scrollY;
  scrollBy({ top: Math.min(200, Math.max(-200, expected)), behavior: 'instant' });
  return Math.abs(expected) < 200 || scrollY === before;
}

interface FrameRead {
  height: number;
  needs: number;
  wide: boolean;
}

/** In a frame: whether its contents fit. */
function readFrame(): FrameRead {
  const { scrollHeight, scrollWidth, clientWidth } = document.documentElement;
  return { height: innerHeight, needs: scrollHeight, wide: scrollWidth > clientWidth };
}

function frameTheme(): string {
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

function readPicture(selector: string, place: number): PictureRead {
  const image = document.querySelectorAll<HTMLImageElement>(selector)[place];
  return { drawn: (image?.naturalWidth ?? 0) > 0, link: image?.closest('a')?.href ?? '' };
}

function attributesAt(place: number): Record<string, string> {
  const element = document.querySelectorAll('superpose-figure')[place];
  return Object.fromEntries([...(element?.attributes ?? [])].map(({ name, value }) => [name, value]));
}

/** Text on the page that was meant as markup of a snippet. */
function spilled(): string[] {
  const text = document.body.innerText;
  return ['<superpose', '</superpose', '<iframe', '<script', '{{', '{%', 'superpose-figure', '&lt;'].filter(
    (sentence) => text.includes(sentence),
  );
}
