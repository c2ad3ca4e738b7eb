// One visit to a host's page in one browser: every way of its post is scrolled to, waited for and read.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFigures } from '../../embed/support/figures.ts';
import type { Scheme, Visitor } from './browsers.ts';
import type { Host, Page, Pasted } from './host.ts';
import {
  attributesAt,
  changedStyles,
  frameTheme,
  insideStyles,
  noteStyles,
  readFrame,
  readPicture,
  readShifts,
  type Shifts,
  type Styles,
  spilled,
  stepTo,
  themes,
  watchShifts,
} from './read.ts';
import { run } from './site.ts';

export interface Verdict {
  way: string;
  /** What was seen: live, picture, link or nothing. */
  seen: string;
  /** Sentences about what is wrong. */
  wrong: string[];
  /** Facts that are not the fault of a snippet. */
  notes: string[];
}

/** How a figure looks inside with no styles around it, by theme. */
export type Reference = Record<Scheme, Styles>;

export const nameOf = ({ place, kind }: Pick<Pasted, 'place' | 'kind'>): string => `${place} ${kind}`;
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
  reference: Reference;
  home: string;
  /** Where the screenshot of a way goes. */
  shot(way: string): string;
}

/** The number of each way's element among those of its kind. */
function elementsOf(ways: readonly Pasted[], home: string) {
  const counts: Record<string, number> = {};
  return ways.map(({ kind, expected, figure }) => {
    const selector =
      kind === 'script' && expected === 'live'
        ? 'superpose-figure'
        : expected === 'live'
          ? 'iframe[src*="/figures/"]'
          : expected === 'link'
            ? `a[href^="${home}"]`
            : `img[src$="pictures/${figure}-wide.svg"]:not(superpose-figure img)`;
    const place = counts[selector] ?? 0;
    counts[selector] = place + 1;
    return { selector, place };
  });
}

export async function visit({ page, host, visitor, reference, home, shot }: Visit): Promise<Verdict[]> {
  await visitor.open(page.address);
  await until(() => visitor.evaluate(() => document.readyState === 'complete'));
  await pause(300);
  if ((await visitor.evaluate(noteStyles)) < 10) throw new Error(`${page.address} is not the post.`);
  await visitor.evaluate(watchShifts);
  const elements = elementsOf(page.ways, home);
  const verdicts: Verdict[] = [];
  let before: Shifts = { moved: 0, what: '', score: 0 };
  for (const [at, pasted] of page.ways.entries()) {
    const { selector, place } = elements[at] as { selector: string; place: number };
    if (host.reach) await visitor.evaluate(host.reach, at);
    else {
      await until(async () => {
        await pause(100);
        return visitor.evaluate(stepTo, selector, place);
      }, 60_000);
    }
    const verdict = await read(visitor, pasted, selector, place, reference, host);
    // The part below loads while the reader goes on.
    await pause(300);
    const shifts = await visitor.evaluate(readShifts);
    const score = shifts.score - before.score;
    if (score > most) verdict.wrong.push(`layout shift ${score.toFixed(3)}`);
    else if (score === 0 && shifts.moved > before.moved && shifts.moved > 8)
      verdict.wrong.push(`${shifts.what} moved by ${Math.round(shifts.moved)} px`);
    before = { ...shifts };
    verdicts.push(verdict);
    await visitor.shoot?.(shot(verdict.way));
  }
  const [first] = verdicts;
  for (const one of await visitor.evaluate(changedStyles)) first?.wrong.push(`the page has changed: ${one}`);
  for (const one of await visitor.evaluate(spilled)) first?.wrong.push(`text that was markup: ${one}`);
  if (host.prints && visitor.print) first?.wrong.push(...(await printed(await visitor.print(), page.ways)));
  const own = visitor.complaints.filter((one) => one.includes(home) || /superpose/i.test(one));
  for (const one of new Set(own)) first?.wrong.push(`console: ${one}`);
  return verdicts;
}

async function read(
  visitor: Visitor,
  pasted: Pasted,
  selector: string,
  place: number,
  reference: Reference,
  host: Host,
): Promise<Verdict> {
  const verdict: Verdict = { way: nameOf(pasted), seen: 'nothing', wrong: [], notes: [] };
  const { wrong, notes } = verdict;
  if (pasted.expected === 'link') {
    const found = await visitor.evaluate((one) => document.querySelectorAll(one).length, selector);
    verdict.seen = found > 0 ? 'link' : 'nothing';
  } else if (pasted.expected === 'picture') {
    const picture = () => visitor.evaluate(readPicture, selector, place);
    if (await until(async () => (await picture()).drawn, 8000)) verdict.seen = 'picture';
    const { link } = await picture();
    if (!sameAddress(link, pasted.link)) wrong.push(`its link is ${link || 'none'}, not ${pasted.link}`);
  } else if (pasted.kind === 'script') {
    const shown = async () => (await visitor.evaluate(readFigures))[place];
    if (await until(async () => (await shown())?.finding === pasted.finding)) verdict.seen = 'live';
    else {
      const one = await shown();
      verdict.seen = one?.picture ? 'picture' : 'nothing';
      wrong.push(`it says “${one?.finding}” ${one?.problem}, not “${pasted.finding}”`);
      return verdict;
    }
    const attributes = await visitor.evaluate(attributesAt, place);
    for (const [name, text] of Object.entries(pasted.settings))
      if (attributes[name] !== text) wrong.push(`${name} is “${attributes[name]}”, not “${text}”`);
    const { around, own } = await visitor.evaluate(themes, selector, place);
    if (around !== own) wrong.push(`${own} on a ${around} page`);
    wrong.push(...(await reached(visitor, place, reference[own as Scheme])));
    const seen = () => visitor.evaluate(themes, selector, place);
    if (host.dark) wrong.push(...(await switched(visitor, host.dark, seen)));
  } else {
    const inFrame = async () => (await visitor.evaluateInFrame(readFigures))[0];
    if (await until(async () => (await inFrame())?.finding === pasted.finding)) verdict.seen = 'live';
    else {
      wrong.push(
        `the frame says “${(await inFrame().catch(() => undefined))?.finding}”, not “${pasted.finding}”`,
      );
      return verdict;
    }
    const fits = async () => {
      const { height, needs } = await visitor.evaluateInFrame(readFrame);
      return needs <= height && height - needs < 30;
    };
    if (!(await until(fits, 5000))) {
      const { height, needs } = await visitor.evaluateInFrame(readFrame);
      // A host that turns a link into a frame has no script of ours to fit its height.
      (pasted.kind === 'link' ? notes : wrong).push(`the frame is ${height} px high and needs ${needs}`);
    }
    if ((await visitor.evaluateInFrame(readFrame)).wide)
      wrong.push('the frame is too narrow for what it shows');
    const seen = async () => ({
      around: (await visitor.evaluate(themes, selector, place)).around,
      own: await visitor.evaluateInFrame(frameTheme),
    });
    await until(async () => {
      const { around, own } = await seen();
      return around === own;
    }, 3000);
    const { around, own } = await seen();
    // Nor to pass it the theme.
    if (own !== around) (pasted.kind === 'link' ? notes : wrong).push(`a ${own} frame on a ${around} page`);
    if (host.dark) wrong.push(...(await switched(visitor, host.dark, seen)));
  }
  return verdict;
}

/** Whether two addresses are the same; engines write them in different ways. */
function sameAddress(one: string, other: string): boolean {
  const plain = (address: string) => {
    try {
      return decodeURIComponent(new URL(address).href.replaceAll('+', ' '));
    } catch {
      return address;
    }
  };
  return plain(one) === plain(other);
}

async function reached(visitor: Visitor, place: number, reference: Styles): Promise<string[]> {
  const found = await visitor.evaluate(insideStyles, place);
  return Object.entries(reference).flatMap(([selector, text]) => {
    const was = text.split('; ');
    const differs = (found[selector] ?? '').split('; ').filter((one, at) => one !== was[at]);
    return differs.length > 0 ? [`the page reaches into ${selector}: ${differs.join('; ')}`] : [];
  });
}

/** A live figure has the same finding in print as on screen, and the link under a frame is there. */
async function printed(pdf: Uint8Array, ways: readonly Pasted[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'superpose-print-'));
  try {
    writeFileSync(join(folder, 'page.pdf'), pdf);
    const text = (await run(folder, 'pdftotext', ['-raw', 'page.pdf', '-']))
      .replace(/\s+/g, ' ')
      .toLowerCase();
    const wanted = ways.flatMap(({ kind, finding }) =>
      kind === 'script' ? [finding] : kind === 'iframe' ? [', in superpose'] : [],
    );
    return wanted
      .filter((one) => !text.includes(one.replace(/\s+/g, ' ').toLowerCase()))
      .map((one) => `not in print: ${one}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Uses the host's own switch, there and back. */
async function switched(
  visitor: Visitor,
  dark: (dark: boolean) => void,
  seen: () => Promise<{ around: string; own: string }>,
): Promise<string[]> {
  const wrong: string[] = [];
  const was = (await seen()).around === 'dark';
  for (const to of [!was, was]) {
    await visitor.evaluate(dark, to);
    const wanted = to ? 'dark' : 'light';
    const follows = async () => {
      const { around, own } = await seen();
      return around === wanted && own === wanted;
    };
    if (await until(follows, 3000)) continue;
    const { around, own } = await seen();
    wrong.push(`switched to ${wanted}: the page is ${around}, the figure ${own}`);
  }
  return wrong;
}
