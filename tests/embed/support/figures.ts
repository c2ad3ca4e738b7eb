// What a reader sees of the figures on a page, and what Node says they must show.
import { readState } from '../../../web/figures/controls.ts';
import { figures } from '../../../web/figures/index.ts';
import { computeOf } from '../../../web/worker/answers.ts';
import { library } from '../../../web/worker/library.ts';

export interface ShownFigure {
  name: string;
  finding: string;
  /** Where it is computed. */
  runsIn: string;
  problem: string;
  link: string;
  /** Whether the content between its tags is visible. */
  picture: boolean;
}

/** Self-contained: it is sent into the page. */
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

/** The finding of a figure, computed with the library alone. */
export async function findingOf(name: string, settings: Record<string, string> = {}): Promise<string> {
  const figure = await (figures[name] as (typeof figures)[string])();
  const { state: read } = readState(figure.controls, Object.entries(settings));
  const state = figure.settle?.(read, undefined) ?? read;
  const job = { signal: new AbortController().signal, progress: () => {} };
  const compute = await computeOf(name);
  const data = await compute?.(library(), state, job);
  return figure.describe(data, state).trim();
}

/** The residual is rounding error, and differs between engines. */
export const withoutResidual = (finding = ''): string => finding.replace(/to within .*$/, '');
