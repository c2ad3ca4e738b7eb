// <superpose-figure name="...">: a figure with its inputs, its picture, what it says in words, its numbers
// and ways to take them along. Its attributes are the settings of the figure.
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { property, query, state } from 'lit/decorators.js';
import { guard } from 'lit/directives/guard.js';
import { type Control, readState, type State, type Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import type { Theme } from '../plot/colour.js';
import { type Cursor, cursorAt, cursorMarks, type Scene } from '../plot/scene.js';
import { type Asker, answeredIn, asker } from '../worker/client.js';
import { stepped, within } from './cursor.js';
import { drawCursor, drawScene } from './drawing.js';
import { toCsv, toJson, toPng, toSvg } from './exports.js';
import { inputOf } from './inputs.js';
import { writeLink } from './link.js';
import { linked } from './linked.js';
import { linkBase, place } from './place.js';
import { aloud, said } from './said.js';
import { elementStyles } from './styles.js';
import { tableOf } from './table.js';

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const typingPause = 120;
/** A finding is read out when the reader has stopped moving a slider. */
const speakingPause = 900;
const firstView = 'The figure’s first view is shown instead.';
const near = '400px';

export interface Change {
  state: State;
  /** The reader has let go: a state to go back to. */
  settled: boolean;
}

export class FigureElement extends LitElement {
  static override styles = elementStyles;

  @property() name = '';
  /** light, dark, or whatever the reader prefers. */
  @property() theme: Theme | '' = '';
  /** Names of the settings that the reader can change, with spaces between; all unless given. */
  @property() keep: string | null = null;
  /** Figures of one group on a page share the settings that they have in common. */
  @property() group = '';

  @state() private figure: AnyFigure | undefined;
  @state() private settings: State = {};
  @state() private shown: { data: unknown; state: State } | undefined;
  @state() private cursor: Cursor = { i: 0, j: 0 };
  @state() private held = false;
  @state() private failure: string | undefined;
  @state() private refused: string[] = [];
  @state() private fraction: number | undefined;
  @state() private stopped = false;
  @state() private busy = false;
  @state() private width = 0;
  @state() private tableOpen = false;
  @state() private saying = '';
  /** What a screen reader is told; a pointer’s moves are not. */
  @state() private spoken = '';
  @query('.surface') private surface!: HTMLElement | null;

  private asker: Asker | undefined;
  private scene: Scene | undefined;
  private isNear = false;
  private wanted = false;
  private typing = 0;
  private speaking = 0;
  private changed = false;
  private watchers: (() => void)[] = [];
  /** What the picture on screen was drawn of, ... */
  private painted: unknown[] = [];
  /** ... and the cursor that it shows. */
  private pointed: Cursor | undefined;

  /** Everything that is set; a link to this very view holds it all. */
  get state(): State {
    return this.settings;
  }

  /** The result on screen. */
  get result(): { figure: AnyFigure; data: unknown; state: State } | undefined {
    return this.figure && this.shown ? { figure: this.figure, ...this.shown } : undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const sizes = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) this.width = width;
    });
    sizes.observe(this);
    const views = new IntersectionObserver(
      ([entry]) => {
        this.isNear = entry?.isIntersecting ?? false;
        if (this.isNear) this.begin();
      },
      { rootMargin: near },
    );
    views.observe(this);
    const scheme = () => this.requestUpdate();
    darkScheme.addEventListener('change', scheme);
    const hearText = (event: Event) => this.adoptText((event as CustomEvent<SharedText>).detail);
    document.addEventListener('superpose-text', hearText);
    this.watchers = [
      () => sizes.disconnect(),
      () => views.disconnect(),
      () => darkScheme.removeEventListener('change', scheme),
      () => document.removeEventListener('superpose-text', hearText),
      linked.listen(() => this.hearLinked()),
    ];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.asker?.cancel();
    this.busy = false;
    for (const stop of this.watchers) stop();
    this.watchers = [];
    clearTimeout(this.typing);
    clearTimeout(this.speaking);
  }

  /** Loads the figure's code, without computing anything. */
  async loaded(): Promise<AnyFigure | undefined> {
    if (this.figure) return this.figure;
    if (!Object.hasOwn(figures, this.name)) {
      this.failure = `There is no figure called “${this.name.slice(0, 40)}”. There are ${Object.keys(figures).join(', ')}.`;
      return undefined;
    }
    try {
      const figure = await (figures[this.name] as () => Promise<AnyFigure>)();
      if (this.figure) return this.figure;
      this.figure = figure;
      const own = Object.keys(figure.controls).flatMap((name): [string, string][] => {
        const text = this.getAttribute(attributeOf(name));
        return text === null ? [] : [[name, text]];
      });
      const { state: settings, refused } = readState(figure.controls, own);
      this.settings = figure.settle?.(settings, undefined) ?? settings;
      this.refused = instead(refused);
      this.asker = asker(this.name, {
        answered: (data, state) => this.answered(data, state),
        failed: (sentence) => {
          this.failure = this.stopped ? undefined : sentence;
          this.settle();
        },
        progress: (fraction) => {
          this.fraction = fraction;
        },
      });
      return figure;
    } catch {
      this.failure = 'This figure’s code could not be loaded. Reload the page to try again.';
      return undefined;
    }
  }

  /** Shows a state that comes from outside: a link, or the page. */
  async show(settings: [string, string][]): Promise<void> {
    const figure = await this.loaded();
    if (!figure) return;
    const { state: read, refused } = readState(figure.controls, settings);
    this.refused = instead(refused);
    // A link with anything impossible in it gives the first view, and says so.
    const chosen = refused.length > 0 ? readState(figure.controls, []).state : read;
    this.settings = figure.settle?.(chosen, undefined) ?? chosen;
    this.held = false;
    this.wanted = true;
    this.ask();
  }

  private async begin(): Promise<void> {
    if (!(await this.loaded())) return;
    if (!this.shown && !this.busy && !this.stopped && !this.failure) this.wanted = true;
    if (this.wanted) this.ask();
  }

  /** Off screen nothing is computed; it is when the reader comes near. */
  private ask(): void {
    this.wanted = !this.isNear;
    if (this.wanted || !this.asker) return;
    this.busy = true;
    this.stopped = false;
    this.failure = undefined;
    this.asker.ask(this.settings);
  }

  private answered(data: unknown, state: State): void {
    const before = this.shown && this.figure?.cells(this.shown.data, this.shown.state);
    this.shown = { data, state };
    this.failure = undefined;
    this.settle();
    const { rows, columns } = this.figure?.cells(data, state) ?? { rows: 0, columns: 0 };
    if (before?.rows !== rows || before.columns !== columns) {
      this.cursor = this.figure?.firstCursor?.(data, state) ?? { i: 0, j: 0 };
      this.held = false;
    }
    this.cursor = within(this.cursor, rows, columns);
    this.speakFinding();
    this.dispatchEvent(new Event('superpose-drawn', { bubbles: true, composed: true }));
  }

  /** What a change of the reader’s has led to, once no further one follows. */
  private speakFinding(): void {
    if (!this.changed) return;
    clearTimeout(this.speaking);
    this.speaking = window.setTimeout(() => {
      this.changed = false;
      if (this.figure && this.shown) this.spoken = this.figure.describe(this.shown.data, this.shown.state);
    }, speakingPause);
  }

  private speakReadout(): void {
    if (!this.figure || !this.shown) return;
    clearTimeout(this.speaking);
    this.changed = false;
    this.spoken = this.figure.readout(this.shown.data, this.shown.state, this.cursor).map(aloud).join(' ');
  }

  private settle(): void {
    this.busy = false;
    this.fraction = undefined;
  }

  private change(name: string, value: Value, settled: boolean): void {
    if (!this.figure) return;
    const changed = { ...this.settings, [name]: value };
    this.settings = this.figure.settle?.(changed, name) ?? changed;
    this.refused = [];
    this.changed = true;
    this.ask();
    this.tellChange(settled);
  }

  private tellChange(settled: boolean): void {
    const detail: Change = { state: this.settings, settled };
    this.dispatchEvent(new CustomEvent('superpose-change', { detail, bubbles: true, composed: true }));
  }

  private adoptText({ name, text, from }: SharedText): void {
    if (from === this || this.figure?.controls[name]?.kind !== 'text') return;
    if (place.foreign && (!this.group || (from as FigureElement).group !== this.group)) return;
    this.settings = { ...this.settings, [name]: text };
    this.ask();
  }

  private hearLinked(): void {
    const tokens = this.tokensKey();
    const pair = tokens && linked.pair(tokens);
    if (pair && (pair.i !== this.cursor.i || pair.j !== this.cursor.j)) this.cursor = pair;
    this.requestUpdate();
  }

  private tokensKey(): string {
    if (!this.figure?.tokens || !this.shown) return '';
    return this.figure.tokens(this.shown.data, this.shown.state)?.join('\u0000') ?? '';
  }

  override render(): TemplateResult {
    const { figure } = this;
    const live = figure && this.shown && this.width > 0;
    return html`
      <div class="root" role=${figure ? 'group' : nothing} aria-label=${figure?.title ?? nothing}
        data-theme=${this.theme || nothing} data-runs-in=${answeredIn() ?? nothing} data-lit=${linked.term() ?? nothing}>
        ${figure ? this.inputs(figure) : html`<slot name="room"></slot>`}
        ${this.problems()}
        ${live ? nothing : html`<slot>${this.standIn()}</slot>`}
        <div class=${live ? 'over' : nothing}>${this.busyLine(figure)}</div>
        ${live ? this.live(figure, this.shown as never) : nothing}
      </div>
    `;
  }

  /** On somebody else's page: what shows the figure until it is live, or instead of it. */
  private standIn(): TemplateResult | typeof nothing {
    if (!place.foreign || !place.home || this.childElementCount > 0) return nothing;
    if (!Object.hasOwn(figures, this.name)) return nothing;
    const picture = `${place.home}pictures/${this.name}-narrow.svg`;
    return html`<a href=${this.link() ?? nothing}><img src=${picture} alt=${this.figure?.title ?? this.name} loading="lazy" /></a>`;
  }

  /** To this very view, where there is a page that has it. */
  private link(): string | undefined {
    const base = linkBase();
    if (base === undefined || !this.figure) return base;
    return base + writeLink(this.name, this.figure.controls, this.settings);
  }

  private problems(): TemplateResult | typeof nothing {
    const again = () => (this.figure ? this.ask() : this.begin());
    return html`
      ${
        this.refused.length > 0
          ? html`<p class="problem" role="status">${this.refused.join(' ')}</p>`
          : nothing
      }
      ${this.failure ? html`<p class="problem" role="alert">${this.failure} <button @click=${again}>Try again</button>${this.homeLink()}</p>` : nothing}
      ${this.stopped ? html`<p class="note">Stopped. <button @click=${again}>Compute it</button></p>` : nothing}
    `;
  }

  private busyLine(figure: AnyFigure | undefined): TemplateResult | typeof nothing {
    if (this.fraction !== undefined) {
      const stop = () => {
        this.asker?.cancel();
        this.stopped = true;
        this.settle();
      };
      // Not a status: every percent would be read out.
      return html`<p class="note busy">
        <progress max="1" .value=${this.fraction} aria-label="Computed so far"></progress>
        <span aria-hidden="true">${Math.round(100 * this.fraction)} %</span><button @click=${stop}>Stop</button></p>`;
    }
    if (!this.busy || this.shown || !figure) return nothing;
    const trained = figure.source(this.settings) === 'trained';
    return html`<p class="note" role="status">${(trained && figure.waiting) || 'Computing…'}</p>`;
  }

  private inputs(figure: AnyFigure): TemplateResult {
    const unused = new Set(figure.unused?.(this.settings) ?? []);
    const kept = this.keep?.split(/\s+/);
    return html`<div class="controls">
      ${Object.entries(figure.controls as Record<string, Control>)
        .filter(([name]) => !unused.has(name) && (kept?.includes(name) ?? true))
        .map(([name, control]) =>
          inputOf(name, control, this.settings[name] as Value, {
            change: (value, settled) => this.change(name, value, settled),
            seed: (input) => this.typeSeed(name, input),
            type: (text) => this.type(name, text),
          }),
        )}
    </div>`;
  }

  private typeSeed(name: string, input: HTMLInputElement): void {
    const { state, refused } = readState(this.figure?.controls ?? {}, [[name, input.value.trim()]]);
    if (refused.length > 0) {
      this.refused = [...refused, 'Nothing has changed.'];
      input.value = String(this.settings[name]);
    } else this.change(name, state[name] as Value, true);
  }

  private type(name: string, text: string): void {
    this.settings = { ...this.settings, [name]: text };
    clearTimeout(this.typing);
    this.typing = window.setTimeout(() => {
      this.change(name, text, true);
      const detail: SharedText = { name, text, from: this };
      document.dispatchEvent(new CustomEvent('superpose-text', { detail }));
    }, typingPause);
  }

  private live(figure: AnyFigure, { data, state }: { data: unknown; state: State }): TemplateResult {
    const tokens = figure.tokens?.(data, state);
    const remark = figure.remark?.(data, state);
    const cells = figure.cells(data, state);
    return html`
      <div class="surface" tabindex="0" role="application" aria-roledescription="figure"
        aria-label="${figure.title}. ${cells.rows > 1 ? 'Arrow keys choose a row and a column.' : 'Arrow keys move along it.'}"
        aria-describedby="finding" @pointermove=${this.point} @pointerleave=${this.leave} @click=${this.hold} @keydown=${this.step}>
        <canvas></canvas><svg class="marks" aria-hidden="true"></svg><svg class="frame" aria-hidden="true"></svg>
      </div>
      ${
        tokens
          ? html`<ol class="tokens" tabindex="0" aria-label="Tokens; the row’s is framed, the column’s is filled">
        ${tokens.map((token, place) => html`<li class="${place === this.cursor.i ? 'row' : ''} ${place === this.cursor.j ? 'column' : ''}">${token}</li>`)}</ol>`
          : nothing
      }
      <p class="readout">${figure.readout(data, state, this.cursor).map(said)}
        ${this.held ? html`<span class="held"> Held: click or tap it again to let go.</span>` : nothing}</p>
      <p class="unseen" aria-live="polite">${this.spoken}</p>
      <p class="finding" id="finding">${figure.describe(data, state)}</p>
      ${remark ? html`<p class="note" role="status">${remark}</p>` : nothing}
      ${this.numbers(figure, data, state)}
      ${this.tools(figure, state)}
    `;
  }

  private numbers(figure: AnyFigure, data: unknown, state: State): TemplateResult {
    const opened = (event: Event) => {
      this.tableOpen = (event.target as HTMLDetailsElement).open;
    };
    return html`<details @toggle=${opened}><summary>The numbers as a table</summary>
      ${this.tableOpen ? guard([this.shown], () => tableOf(figure, data, state)) : nothing}</details>`;
  }

  private tools(figure: AnyFigure, state: State): TemplateResult {
    const save = (extension: string, type: string, make: () => Promise<BlobPart> | BlobPart) => async () => {
      try {
        download(`${figure.name}.${extension}`, new Blob([await make()], { type }));
        this.saying = `${figure.name}.${extension} saved.`;
      } catch (error) {
        this.saying = (error as Error).message;
      }
    };
    const result = this.result as NonNullable<typeof this.result>;
    const theme = this.themeNow();
    return html`<div class="tools">
      <span class="badge" title=${meanings[figure.source(state)]}><span class="unseen">Numbers: </span>${sources[figure.source(state)]}</span>
      ${linkBase() === undefined ? nothing : html`<button @click=${this.copyLink}>Copy link</button>`}
      <span class="save" role="group" aria-label="Save as"><span class="quiet" aria-hidden="true">Save as</span>
      <button @click=${save('png', 'image/png', () => toPng(result, this.width, theme))}>PNG</button>
      <button @click=${save('svg', 'image/svg+xml', () => toSvg(result, this.width, theme))}>SVG</button>
      <button @click=${save('csv', 'text/csv', () => toCsv(result))}>CSV</button>
      <button @click=${save('json', 'application/json', () => toJson(result))}>JSON</button></span>
      <button @click=${this.reset}>Reset</button>
      <slot name="tools"></slot>${this.homeLink()}
      <span class="said" role="status">${this.saying}</span>
    </div>`;
  }

  private async reset(): Promise<void> {
    this.changed = true;
    await this.show([]);
    this.tellChange(true);
  }

  private homeLink(): TemplateResult | typeof nothing {
    const link = place.foreign ? this.link() : undefined;
    if (link === undefined) return nothing;
    return html` <a href=${link} target="_blank" rel="noopener">Open in Superpose</a>`;
  }

  private async copyLink(): Promise<void> {
    const link = this.link();
    if (link === undefined) return;
    try {
      await navigator.clipboard.writeText(link);
      this.saying = 'Link copied.';
    } catch {
      // Not allowed, as in many frames: the reader copies it by hand.
      this.saying = `This is the link: ${link}`;
    }
  }

  private themeNow(): Theme {
    return this.theme || (darkScheme.matches ? 'dark' : 'light');
  }

  override updated(_: PropertyValues): void {
    const { figure, shown, width } = this;
    if (!figure || !shown || width === 0 || !this.surface) return;
    const theme = this.themeNow();
    const key = [shown, width, theme, this.surface];
    if (key.some((one, place) => one !== this.painted[place])) {
      this.painted = key;
      this.pointed = undefined;
      this.scene = figure.scene(shown.data, shown.state, width);
      drawScene(this.surface, this.scene, theme);
    }
    if (!this.scene || this.pointed === this.cursor) return;
    this.pointed = this.cursor;
    const focus = figure.focus?.(shown.data, shown.state, this.cursor, width) ?? [];
    drawCursor(this.surface, [...cursorMarks(this.scene, this.cursor), ...focus]);
  }

  private at(event: PointerEvent | MouseEvent) {
    if (!this.scene || !this.surface) return undefined;
    const box = this.surface.getBoundingClientRect();
    const scale = this.scene.width / box.width;
    return cursorAt(this.scene, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  }

  private point(event: PointerEvent): void {
    const found = this.at(event);
    linked.lightTerm(found?.region.term);
    if (found && !this.held) this.move(found.cursor);
  }

  private leave(): void {
    linked.lightTerm(undefined);
  }

  private hold(event: MouseEvent): void {
    const found = this.at(event);
    if (!found) return;
    const same = found.cursor.i === this.cursor.i && found.cursor.j === this.cursor.j;
    this.held = !(this.held && same);
    this.move(found.cursor);
    if (this.held) this.speakReadout();
  }

  private move(cursor: Cursor): void {
    if (cursor.i === this.cursor.i && cursor.j === this.cursor.j) return;
    this.cursor = cursor;
    const tokens = this.tokensKey();
    if (tokens) linked.lightPair(tokens, cursor);
  }

  private step(event: KeyboardEvent): void {
    if (!this.figure || !this.shown || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape') {
      this.held = false;
      return;
    }
    const { rows, columns } = this.figure.cells(this.shown.data, this.shown.state);
    const next = stepped(this.cursor, event.key, rows, columns);
    if (!next) return;
    this.move(next);
    this.speakReadout();
    event.preventDefault();
  }
}

interface SharedText {
  name: string;
  text: string;
  from: unknown;
}

/** `positionScale` is set by the attribute `position-scale`, `d_head` by `d_head`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

const instead = (refused: string[]): string[] => (refused.length > 0 ? [...refused, firstView] : []);

/** What a badge says, and what it means. */
const sources = { seeded: 'seeded', trained: 'trained weights', exact: 'exact' };
const meanings = {
  seeded: 'Random numbers, always the same for the same seed',
  trained: 'Computed from the weights of a trained model',
  exact: 'Computed from a formula',
};

function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Another version may have come first, on a page that loads two. */
if (!customElements.get('superpose-figure')) customElements.define('superpose-figure', FigureElement);
