// What a reader sees of the figures on a page, and what Node says they must show.
import { readFileSync } from 'node:fs';
import { readState } from '../../../web/figures/controls.ts';
import { figures } from '../../../web/figures/index.ts';
import type { EmbedRequest } from '../../../web/page/snippets.ts';
import { computeOf } from '../../../web/worker/answers.ts';
import { library } from '../../../web/worker/library.ts';
import { recorded } from '../../../web/worker/recorded.ts';

export interface ShownFigure {
  name: string;
  finding: string;
  /** Where the figure is computed. */
  runsIn: string;
  problem: string;
  link: string;
  /** Whether the content between its tags is visible. */
  picture: boolean;
}

/** Reads all figures of a page. Self-contained, because it is sent into the page. */
export function readFigures(): ShownFigure[] {
  return [...document.querySelectorAll('superpose-figure')].map((element) => {
    const root = element.shadowRoot;
    const text = (selector: string) => root?.querySelector(selector)?.textContent?.trim() ?? '';
    return {
      name: element.getAttribute('name') ?? '',
      finding: text('.finding'),
      runsIn: root?.querySelector('.root')?.getAttribute('data-runs-in') ?? '',
      problem: text('.problem'),
      link: root?.querySelector('a[target]')?.getAttribute('href') ?? '',
      picture: (element.firstElementChild?.getBoundingClientRect().height ?? 0) > 0,
    };
  });
}

type FigureResult = Awaited<ReturnType<typeof compute>>;
const results = new Map<string, Promise<FigureResult>>();

/** A figure in a state, computed once. */
function resultOf(name: string, settings: Record<string, string> = {}): Promise<FigureResult> {
  const key = JSON.stringify([name, settings]);
  const result = results.get(key) ?? compute(name, settings);
  results.set(key, result);
  return result;
}

/** Computes a figure in a state with the library alone. */
async function compute(name: string, settings: Record<string, string>) {
  const figure = await (figures[name] as (typeof figures)[string])();
  const { state: read, refused } = readState(figure.controls, Object.entries(settings));
  if (refused.length > 0) throw new Error(refused.join(' '));
  const state = figure.settle?.(read, undefined) ?? read;
  const job = { signal: new AbortController().signal, progress: () => {} };
  const computeData = await computeOf(name);
  const data = await computeData?.({ ...library(), recorded }, state, job);
  return { figure, data, state, finding: figure.describe(data, state).trim() };
}

export const findingOf = async (name: string, settings: Record<string, string> = {}): Promise<string> =>
  (await resultOf(name, settings)).finding;

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

/** The data that the Embed dialog would make snippets of; `home` is the address of dist/. */
export async function wishOf(
  name: string,
  settings: Record<string, string>,
  home: string,
  width = 700,
): Promise<EmbedRequest> {
  const result = await resultOf(name, settings);
  const keep = Object.keys(result.figure.controls);
  return { ...result, home, version, theme: 'auto', keep, width };
}

/** The residual is rounding error, and differs between engines. */
export const withoutResidual = (finding = ''): string => finding.replace(/to within .*$/, '');
