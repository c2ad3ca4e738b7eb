// What a reader reads in the two figures. These functions are sent into the page, in any browser, so each
// stands alone: nothing outside its own braces exists there.

export interface Figure1 {
  source: 'seeded' | 'sentence';
  encoding: string;
  d: number;
  scale: number;
  n: number;
  seed: number;
  /** The chosen pair: labels with their places, then the two dot products and what lies between them. */
  tokens: string[];
  places: number[];
  concatenated: string;
  tokenPosition: string;
  positionToken: string;
  added: string;
  /** Mean and standard deviation of each dot product, in the table and beside the histograms. */
  table: Record<string, string[]>;
  beside: Record<string, string[]>;
  finding: string;
}

/** Undefined until the first picture is there. */
export function readFigure1(): Figure1 | undefined {
  const root = document.querySelector('superpose-dot-products')?.shadowRoot;
  if (!root?.querySelector('.finding')) return undefined;
  const text = (selector: string, within: ParentNode = root) =>
    within.querySelector(selector)?.textContent?.trim() ?? '';
  const setting = (name: string) =>
    Number(
      text('.value', (root.querySelector(`input[name=${name}]`) as HTMLElement).parentElement as Element),
    );
  const name = (label: string) => label.replace(/^[+=]\s*/, '');
  const rows = [...root.querySelectorAll('tbody tr')].map((row) =>
    [...row.children].map((cell) => cell.textContent?.trim() ?? ''),
  );
  const labels = [...root.querySelectorAll('.distribution > div:has(small)')].map((label) => {
    const numbers = text('small', label);
    return [label.textContent?.replace(numbers, '').trim() ?? '', ...numbers.split(' ± ')];
  });
  const byName = (lists: string[][]) =>
    Object.fromEntries(lists.map(([label, ...numbers]) => [name(label as string), numbers]));
  return {
    source: (root.querySelectorAll('input[name=source]')[1] as HTMLInputElement).checked
      ? 'sentence'
      : 'seeded',
    encoding: (root.querySelector('select') as HTMLSelectElement).value,
    d: setting('d'),
    scale: setting('scale'),
    n: setting('n'),
    seed: Number(text('.seed b')),
    tokens: [...root.querySelectorAll('p.readout b')].map((token) => token.textContent ?? ''),
    places: [...text('p.readout').matchAll(/\((\d+)\)/g)].map(([, place]) => Number(place)),
    concatenated: text('[data-value=concatenated]'),
    tokenPosition: text('p.readout [data-term=token-position]'),
    positionToken: text('p.readout [data-term=position-token]'),
    added: text('[data-value=added]'),
    table: byName(rows),
    beside: byName(labels),
    finding: text('.finding'),
  };
}

export interface Figure2 {
  head: number;
  /** All tokens of the sentence, and those of the chosen cell with their places. */
  tokens: string[];
  query: [string, number];
  key: [string, number];
  /** The chosen cell as a sum, by name; `kept` is there when terms are switched off. */
  terms: Record<string, string>;
  score: string;
  kept: string | undefined;
  softmax: string;
  residual: string;
  shares: Record<string, string>;
  /** The ends of the maps' scale. */
  legend: string[];
  finding: string;
}

/** Undefined until the first picture is there. */
export function readFigure2(): Figure2 | undefined {
  const root = document.querySelector('superpose-decompose')?.shadowRoot;
  if (!root?.querySelector('.finding')) return undefined;
  const text = (selector: string) => root.querySelector(selector)?.textContent?.trim() ?? '';
  const list = (selector: string) =>
    Object.fromEntries(
      [...root.querySelectorAll(selector)].map((number) => [
        number.closest('li')?.firstElementChild?.textContent?.trim() ?? '',
        number.textContent?.trim() ?? '',
      ]),
    );
  const [query = '', key = ''] = [...root.querySelectorAll('.readout h3 q')].map((q) => q.textContent ?? '');
  const [i, j] = [...text('.readout h3').matchAll(/\((\d+)\)/g)].map(([, place]) => Number(place));
  return {
    head: Number((root.querySelector('select[name=head]') as HTMLSelectElement).value),
    tokens: [...root.querySelectorAll('.chips li')].map((token) => token.textContent ?? ''),
    query: [query, i as number],
    key: [key, j as number],
    terms: list('[data-cell]:not([data-cell=logits], [data-cell=kept], [data-cell=softmax])'),
    score: text('[data-cell=logits]'),
    kept: root.querySelector('[data-cell=kept]') ? text('[data-cell=kept]') : undefined,
    softmax: text('[data-cell=softmax]'),
    residual: text('[data-value=residual]'),
    shares: list('[data-share]'),
    legend: [...root.querySelectorAll('.surface ~ .legend span')].flatMap((end) =>
      /^[−+]\d/.test(end.textContent ?? '') ? [end.textContent as string] : [],
    ),
    finding: text('.finding'),
  };
}

export interface Maps {
  /** The colour of each cell, row by row, by the name of the map. */
  maps: Record<string, string[]>;
  /** The colours of each legend's two ends. */
  legends: { diverging: string[]; sequential: string[] };
}

/** What figure 2 has painted. */
export function readMaps(): Maps {
  const root = document.querySelector('superpose-decompose')?.shadowRoot as ShadowRoot;
  const maps = [...root.querySelectorAll('canvas')].map((canvas): [string, string[]] => {
    const name = canvas.dataset.result ?? canvas.closest('.panel')?.querySelector('label')?.textContent ?? '';
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colour = (cell: number) => data.slice(4 * cell, 4 * cell + 3).join(', ');
    return [name, Array.from({ length: data.length / 4 }, (_, cell) => colour(cell))];
  });
  const [diverging = [], sequential = []] = [...root.querySelectorAll('.ramp')].map((ramp) => {
    const stops = getComputedStyle(ramp).backgroundImage.match(/(?<=rgb\().*?(?=\))/g) ?? [];
    return [stops.at(0) ?? '', stops.at(-1) ?? ''];
  });
  return { maps: Object.fromEntries(maps), legends: { diverging, sequential } };
}
