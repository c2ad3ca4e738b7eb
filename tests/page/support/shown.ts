// Reads from the page what a figure shows, and brings the figure into view first. These functions run in the
// page, so each is self-contained.

export interface Shown {
  /** Every setting, as links write it. */
  state: Record<string, unknown>;
  /** The state of the picture on screen. */
  drawn: Record<string, unknown> | undefined;
  cursor: { i: number; j: number };
  finding: string;
  readout: string;
  /** The words and numbers in the picture. */
  picture: string;
  tokens: string[];
  badge: string;
  /** Failures and refusals. */
  problems: string[];
  /** Other status lines. */
  notes: string[];
  width: number;
  /** Whether this may be the middle of a run. */
  busy: boolean;
}

/** Opens the card that a figure is in, or shows it in its beat, if it is in one. */
export function unfold(name: string): void {
  const figure = document.querySelector(`superpose-figure[name="${name}"]`);
  const card = figure?.closest('details');
  if (card) card.open = true;
  for (const shot of figure?.closest('.stays')?.querySelectorAll<HTMLElement>('.shot') ?? [])
    shot.hidden = !shot.contains(figure);
  // On a narrow screen a beat shows the picture alone.
  if (innerWidth < 1200) figure?.closest('.stage')?.setAttribute('data-expanded', '');
}

/** Waits for the steps of beats: a step that becomes current sets its picture's state in the next frame. */
export const stepsCameBy = (): Promise<unknown> =>
  new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));

/** Reads a figure. Undefined until its element exists. */
export function readFigure(name: string): Shown | undefined {
  const element = document.querySelector(`superpose-figure[name="${name}"]`) as
    | (HTMLElement & {
        state: Record<string, unknown>;
        result?: { state: Record<string, unknown> };
        cursor: { i: number; j: number };
        width: number;
        busy: boolean;
      })
    | null;
  const root = element?.shadowRoot;
  if (!element || !root) return undefined;
  const clean = (node: Node | null) => node?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  const all = (selector: string) => [...root.querySelectorAll(selector)].map(clean);
  return {
    state: element.state,
    // A copy: WebDriver BiDi carries an object that occurs twice only once.
    drawn: element.result && structuredClone(element.result.state),
    cursor: element.cursor,
    finding: clean(root.querySelector('.finding')),
    readout: clean(root.querySelector('.readout')).replace(
      /(?:^| )(Held: tap again to let go|Point at a picture for numbers)\.$/,
      '',
    ),
    picture: all('.marks text').join(' '),
    tokens: all('.tokens li'),
    badge: clean(root.querySelector('.badge')),
    problems: all('.problem'),
    notes: all('.note'),
    width: element.width,
    busy: element.busy,
  };
}

/** Whether a figure has drawn what it is set to, as soon as it has, and after two seconds if it has not. */
export function untilDrawn(name: string): Promise<boolean> {
  const until = performance.now() + 2000;
  return new Promise((done) => {
    const look = () => {
      const element = document.querySelector(`superpose-figure[name="${name}"]`) as
        | (HTMLElement & {
            state?: unknown;
            result?: { state: unknown };
            busy?: boolean;
            updateComplete?: Promise<unknown>;
          })
        | null;
      const drawn =
        element?.result !== undefined &&
        !element.busy &&
        JSON.stringify(element.result.state) === JSON.stringify(element.state);
      if (drawn) Promise.resolve(element.updateComplete).then(() => done(true));
      else if (performance.now() > until) done(false);
      else setTimeout(look, 20);
    };
    look();
  });
}

/** The colours of a figure's canvas, as a data address. */
export function readCanvas(name: string): string {
  const root = document.querySelector(`superpose-figure[name="${name}"]`)?.shadowRoot;
  return (root?.querySelector('canvas') as HTMLCanvasElement | null)?.toDataURL() ?? '';
}

/** The numbers under a figure, as shown. */
export function readTable(name: string): string[][] {
  const root = document.querySelector(`superpose-figure[name="${name}"]`)?.shadowRoot;
  return [...(root?.querySelectorAll('table tr') ?? [])].map((row) =>
    [...row.children].map((cell) => cell.textContent ?? ''),
  );
}
