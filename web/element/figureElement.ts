// <superpose-figure name="...">: a figure with its inputs, its picture, its finding, its numbers and ways to
// save them. Its attributes are the figure's settings.
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import type { Control, State, Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import type { Theme } from '../plot/colour.js';
import { captionOf } from '../plot/format.js';
import { plainCopy } from '../plot/plainCopy.js';
import type { Cursor, Handle } from '../plot/scene.js';
import { answeredIn } from '../worker/client.js';
import { Cursors, linked } from './cursor.js';
import type { Result, View } from './exports.js';
import { FigureRequest } from './figureRequest.js';
import { inputOf } from './inputs.js';
import { hostPage } from './link.js';
import { glide } from './motion.js';
import { Picture } from './picture.js';
import { drawnPiece, Speech } from './speech.js';
import { elementStyles, Surroundings } from './surroundings.js';
import { ToolsMenu } from './toolsMenu.js';
import { untranslate } from './translated.js';

type Button = ReturnType<NonNullable<AnyFigure['buttons']>>[number];

export class FigureElement extends LitElement {
  static override styles = elementStyles;
  static override properties = {
    name: plainCopy({}),
    theme: plainCopy({}),
    keep: plainCopy({}),
    group: plainCopy({}),
  };

  name = '';
  /** `light`, `dark`, or `auto` and empty for the reader's preference. */
  theme: Theme | 'auto' | '' = '';
  /** Names of the settings that the reader can change, separated by spaces; null for all. */
  keep: string | null = null;
  /** Figures of one group on a page share the settings that they have in common. */
  group = '';

  readonly request = new FigureRequest(this);
  readonly surroundings = new Surroundings(this);
  readonly cursors = new Cursors(this);
  readonly picture = new Picture(this);
  readonly speech = new Speech(this);
  readonly #toolsMenu = new ToolsMenu(this);

  /** All settings, which a link to this view contains. */
  get state(): State {
    return this.request.settings;
  }

  /** The result on screen. */
  get result(): Result | undefined {
    return this.picture.view;
  }

  /** Whether the present settings are being computed. */
  get busy(): boolean {
    return this.request.isComputing;
  }

  /** In pixels. */
  get width(): number {
    return this.surroundings.width;
  }

  get cursor(): Cursor {
    return this.cursors.cursor;
  }

  set cursor(cursor: Cursor) {
    this.cursors.cursor = cursor;
  }

  /** Loads the figure's code, without computing anything. */
  loaded(): Promise<AnyFigure | undefined> {
    return this.request.loaded();
  }

  /** Shows a state from a link or the page. `problem` is a sentence about what was wrong with it. */
  show(settings: [string, string][], problem?: string): Promise<void> {
    return this.request.show(settings, problem);
  }

  protected override async scheduleUpdate(): Promise<void> {
    await this.request.nextAnswer;
    super.scheduleUpdate();
  }

  /**
   * A page that has replaced built-in functions may break drawing; its scripts must not receive the error.
   */
  protected override performUpdate(): void {
    try {
      untranslate(this.renderRoot);
      super.performUpdate();
      // Text beside the figure that is about the recorded sentence is muted by page.css.
      this.toggleAttribute('data-user-text', this.request.showsUserText);
    } catch (error) {
      console.warn(`Superpose: “${this.name}” could not be drawn on this page. (${error})`);
    }
  }

  override render(): TemplateResult {
    const { figure } = this.request;
    const { view } = this.picture;
    // On somebody else's page the placeholder stays in place until everything around it appears at once.
    const early = hostPage.foreign && !view;
    const settings = figure ? this.#inputs(figure) : html`<slot name="room"></slot>`;
    // Without a picture the inputs have nothing to stand below.
    const isBroken = this.#failure !== undefined || this.request.state.is === 'stopped';
    const below = figure?.below && !isBroken;
    // The line is hidden as well as removed, because a page may have replaced remove().
    const busy = this.#busyLine();
    return html`<svg class="room" aria-hidden="true"></svg>
      <div class="root" part="root" role=${figure ? 'region' : nothing} aria-label=${figure?.title ?? nothing}
        data-theme=${this.surroundings.fixedTheme ?? nothing} ?paper=${this.surroundings.paper} data-runs-in=${answeredIn() ?? nothing} data-lit=${linked.term() ?? nothing}>
        <slot name="title">${figure && !early ? html`<h3 part="title">${figure.title}</h3>` : nothing}</slot>
        ${early ? nothing : [below ? nothing : settings, this.#problems()]}
        <div class=${view || this.childElementCount > 0 ? 'over' : nothing} ?hidden=${busy === nothing}>${busy}</div>
        <slot ?hidden=${view}>${view ? nothing : this.standIn?.()}</slot>
        ${early ? [this.#problems(), isBroken ? settings : nothing] : nothing}
        ${view ? this.#live(view, below ? settings : nothing) : nothing}
      </div>
    `;
  }

  /** A picture for a page that has put none between the tags: see embed/mirror.ts. */
  standIn?(): TemplateResult | undefined;

  /** Why there are no data for the settings, or why the data could not be drawn. */
  get #failure(): string | undefined {
    const { state } = this.request;
    if (state.is === 'failed') return state.sentence;
    return state.is === 'shown' ? this.picture.failure : undefined;
  }

  #problems(): TemplateResult {
    const { refusals, state, again } = this.request;
    const sentences = [...refusals, this.surroundings.problem ?? []].flat();
    const refusal =
      sentences.length > 0 ? html`<p class="problem" role="status">${sentences.join(' ')}</p>` : nothing;
    const failure = this.#failure
      ? html`<p class="problem" role="alert">${this.#standInNote()}${this.#failure} <button @click=${again}>Try again</button>${this.#toolsMenu.homeLink()}</p>`
      : nothing;
    const stopped =
      state.is === 'stopped'
        ? html`<p class="note">Stopped. <button @click=${again}>Compute it</button></p>`
        : nothing;
    return html`${refusal}${failure}${stopped}`;
  }

  /** What a reader should know about the picture that stands in for the figure after a failure. */
  #standInNote(): string {
    const { figure, otherPicture } = this.request;
    if (this.picture.view || !figure) return '';
    const other = otherPicture ? `It shows ${otherPicture}, not the one that was asked for. ` : '';
    return `The picture stands still. ${other}`;
  }

  #busyLine(): TemplateResult | typeof nothing {
    const { figure, state, stop, liveJob } = this.request;
    if (state.is !== 'computing') return nothing;
    const { fraction, settings } = state;
    if (fraction !== undefined && !liveJob) {
      // Not a status, or a screen reader would read out every percent.
      return html`<p class="note busy">
        <progress max="1" .value=${fraction} aria-label="Computed so far"></progress>
        <span aria-hidden="true">${Math.round(100 * fraction)} %</span><button @click=${stop}>Stop</button></p>`;
    }
    if (!figure || this.picture.view) return nothing;
    const trained = ['trained', 'mixed'].includes(figure.source(settings));
    // Not a status either: the reader has only come near.
    return html`<p class="note">${(trained && figure.waiting) || 'Computing…'}</p>`;
  }

  #inputs(figure: AnyFigure): TemplateResult {
    const { settings, liveJob } = this.request;
    const { named } = this.picture.view ?? {};
    // Most answers change no input, so the inputs are not rendered again.
    const names = named && Object.values(named).flat().join('\u0000');
    const [seen, more] = [false, true].map((more) =>
      guard([figure, settings, this.keep, names], () => this.#inputsOf(figure, more)),
    );
    const play = liveJob?.playback?.button() ?? nothing;
    const job = liveJob?.tools() ?? nothing;
    const buttons = (figure.buttons?.(settings) ?? []).map((button) => this.#button(button));
    const { below, plays } = figure;
    // The button that plays a run comes before those that train.
    const aside = below && plays;
    const hidden =
      aside || this.#namesOf(figure, true).length > 0
        ? html`<details class="more" part="more"><summary>More settings</summary><div class="controls">${more}${aside ? job : nothing}</div></details>`
        : nothing;
    return html`<div class="controls ${below ? 'below' : ''}" part="controls">${play}${buttons}${seen}${aside ? nothing : job}${hidden}</div>`;
  }

  #button({ label, sets, glides }: Button): TemplateResult {
    const set = () => {
      for (const [name, value] of Object.entries(sets)) {
        if (glides) glide(this.request, name, value as number);
        else this.request.change(name, value as Value, true);
      }
    };
    return html`<div class="choices"><button @click=${set}>${label}</button></div>`;
  }

  /**
   * The settings that the reader can change: those in sight at once, or with `more` those under “More
   * settings”.
   */
  #namesOf(figure: AnyFigure, more: boolean): string[] {
    const unused = new Set(figure.unused?.(this.request.settings) ?? []);
    const keep = typeof this.keep === 'string' ? this.keep.split(/\s+/) : undefined;
    return Object.entries(figure.controls as Record<string, Control>).flatMap(([name, control]) =>
      (control.more ?? false) === more && !unused.has(name) && (keep?.includes(name) ?? true) ? [name] : [],
    );
  }

  #inputsOf(figure: AnyFigure, more: boolean): TemplateResult[] {
    const { request } = this;
    return this.#namesOf(figure, more).map((name) =>
      inputOf(
        name,
        figure.controls[name] as Control,
        request.settings[name] as Value,
        this.picture.view?.named[name],
        {
          change: (value, settled) => request.change(name, value, settled),
          seed: (input) => request.typeSeed(name, input),
          type: (text) => request.type(name, text),
          takeBack: hostPage.foreign ? undefined : () => request.takeBack(name),
        },
      ),
    );
  }

  #live(view: View, below: TemplateResult | typeof nothing): TemplateResult {
    const { cursor, isPinned, isPointed, isMarkedByStep, point, leave, hold, step } = this.cursors;
    const [head, rest] = captionOf(view.finding);
    const { state, liveJob, isEdited } = this.request;
    const isLate = state.is === 'computing' && state.picture === 'late';
    // During playback the caption does not follow the picture: it is renewed at the end.
    const isCaptionOld = isLate || (liveJob?.playback?.isPlaying ?? false);
    const { open, status, tableOpen } = this.#toolsMenu;
    const dimmed = (name: string, isOld: boolean) => (isOld ? `${name} old` : name);
    return html`
      <div class=${dimmed('surface', isLate)} tabindex="0" role="application" aria-roledescription="figure"
        aria-label="${view.figure.title.replace(/[^?]$/, '$&.')} ${view.rows > 1 ? 'Arrow keys choose a row and a column.' : 'Arrow keys move along it.'}"
        aria-describedby="finding" @focus=${this.cursors.focused} @pointermove=${point} @pointerleave=${leave} @click=${hold} @keydown=${step}>
        <svg class="under" aria-hidden="true"></svg><canvas></canvas><svg class="marks" aria-hidden="true"></svg><svg class="frame" aria-hidden="true"></svg>
        ${view.scene.handles?.map((handle) => this.#knob(handle))}
      </div>
      ${below}
      ${view.remark ? html`<p class="note" role="status">${view.remark}</p>` : nothing}
      <div class="foot" part="below">${guard([open ? view : view.source, status, tableOpen], () => this.#toolsMenu.tools(view))}</div>
      <p class=${dimmed('finding', isCaptionOld)} id="finding" part="caption">${head ? html`<b part="rest">${head}</b><span part="rest">${rest}</span>` : rest}</p>
      ${
        view.tokens
          ? html`<ol class="tokens" part="caption" tabindex="0" aria-label="Tokens; the row’s is framed, the column’s is filled">
        ${view.tokens.map((token, at) => html`<li class="${isPointed && at === cursor.i ? 'row' : ''} ${isPointed && at === cursor.j ? 'column' : ''}">${token}</li>`)}</ol>`
          : nothing
      }
      <div class=${(isPointed && !isMarkedByStep) || isEdited ? 'reading active' : 'reading'} part="below reading">
        <p class="readout" part="below ${isPointed ? 'readout' : ''} ${isPinned ? 'held' : ''}">${isPointed ? this.picture.readout.map(drawnPiece) : this.#hint()}
          ${isPinned ? html`<span class="held"> Held: tap again to let go.</span>` : nothing}</p>
        <button class=${isEdited ? 'reset' : 'reset idle'} part="below reset" aria-label="Reset: ${view.figure.title}" @click=${this.#reset}>Reset</button>
      </div>
      ${view.figure.opens ? this.#toolsMenu.opens(view, cursor) : nothing}
      <p class="unseen" aria-live="polite">${this.speech.spoken}</p>
      ${tableOpen ? html`<div class="numbers" part="below">${guard([view.data, view.state], () => numbers(view))}</div>` : nothing}
    `;
  }

  /** The button disappears, so the focus goes to the menu or, where that is hidden, to the picture. */
  #reset = (): void => {
    const root = this.renderRoot as ShadowRoot;
    for (const place of ['.menu > summary', '.surface']) {
      if (root.activeElement?.matches('.reset'))
        root.querySelector<HTMLElement>(place)?.focus({ preventScroll: true });
    }
    void this.request.reset();
  };

  /** Only the first figure of a page has this hint. */
  #hint(): TemplateResult | typeof nothing {
    const first: Element | null = document.querySelector(tag);
    if (first && first !== this) return nothing;
    return html`<span class="held">Point at a picture for numbers.</span>`;
  }

  /**
   * A handle for pointers alone: keys and screen readers use the setting's input. `translate` moves the
   * handle without layout.
   */
  #knob(handle: Handle): TemplateResult {
    const { x, y, size } = handle;
    const { grab, tap } = this.cursors;
    const { scale } = this.surroundings;
    const room = size ? `;width:${size.width * scale}px;height:${size.height * scale}px` : '';
    return html`<div class=${size ? 'knob part' : 'knob'} aria-hidden="true" .style=${`translate:${x * scale}px ${y * scale}px${room}`}
      @pointerdown=${(event: PointerEvent) => grab(event, handle)} @click=${tap}></div>`;
  }
}

function numbers(view: View): TemplateResult {
  try {
    return tableOf(view);
  } catch (error) {
    return html`<p class="problem">The table could not be made (${(error as Error).message}).</p>`;
  }
}

const tag = 'superpose-figure';

/** Makes the page's figures live, unless another version on the page has defined the element. */
export function defineFigures(): void {
  if (!customElements.get(tag)) customElements.define(tag, FigureElement);
}

/** How many rows of a table are shown at most; the saved files have all. */
const mostRows = 300;

export function tableOf({ figure, data, state }: Result): TemplateResult {
  const { columns, rows } = figure.table(data, state);
  // A hyphen in a name is not a minus sign.
  const cell = (value: string | number) =>
    typeof value === 'string'
      ? value
      : !Number.isFinite(value)
        ? '–'
        : String(Number.isInteger(value) ? value : Number(value.toPrecision(6))).replace('-', '−');
  return html`
    ${rows.length > mostRows ? html`<p class="note">The first ${mostRows} of ${rows.length} rows; CSV and JSON have all.</p>` : nothing}
    <div class="scroll" tabindex="0" role="region" aria-label="${figure.title}: numbers">
      <table>
        <thead><tr>${columns.map((column: string) => html`<th scope="col">${column}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, mostRows).map((row: (string | number)[]) => html`<tr>${row.map((value, place) => (place === 0 ? html`<th scope="row">${cell(value)}</th>` : html`<td>${cell(value)}</td>`))}</tr>`)}</tbody>
      </table>
    </div>
  `;
}
