// Figure "One score, four questions": a head's scores for a sentence, and the terms they are the sum of.
import { html, nothing, type TemplateResult, unsafeCSS } from 'lit';
import { customElement, queryAll, state } from 'lit/decorators.js';
import { colourRamp, type TermColour } from '../plot/colour.js';
import { exponent, percent, readable, signed } from '../plot/format.js';
import { drawHeatmap, largestMagnitude } from '../plot/heatmap.js';
import { asker } from '../worker/client.js';
import type { DecomposeAnswer, DecomposeRequest } from '../worker/protocol.js';
import styles from './decompose.css?inline';
import { Figure, moved, sharedStyles } from './figure.js';
import { remark, sentence } from './sentence.js';

const parts = ['token', 'position', 'segment', 'constant'];
const heads = 12;

interface PanelKind {
  label: string;
  question: string;
  colour: TermColour;
  terms: number[];
}

/** Term s * 4 + r is query part s with key part r; the four questions, and all that is left. */
const fourPanels: PanelKind[] = [
  { label: 'token → token', question: 'Do these two words go together?', colour: 'token-token', terms: [0] },
  {
    label: 'token → position',
    question: 'Does this word look for that place?',
    colour: 'token-position',
    terms: [1],
  },
  {
    label: 'position → token',
    question: 'Does this place look for that word?',
    colour: 'position-token',
    terms: [4],
  },
  {
    label: 'position → position',
    question: 'Do these two places go together?',
    colour: 'position-position',
    terms: [5],
  },
  {
    label: 'the rest',
    question: 'Segment, LayerNorm’s β and the biases',
    colour: 'rest',
    terms: [2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  },
];

const sixteenPanels: PanelKind[] = parts.flatMap((queryPart, s) =>
  parts.map((keyPart, r) => {
    const term = s * parts.length + r;
    const colour = fourPanels.find(({ terms }) => terms.length === 1 && terms[0] === term)?.colour ?? 'rest';
    return { label: `${queryPart} → ${keyPart}`, question: '', colour, terms: [term] };
  }),
);

@customElement('superpose-decompose')
export class DecomposeFigure extends Figure {
  static override styles = [sharedStyles, unsafeCSS(styles)];

  @state() private head = 2;
  @state() private all = false;
  @state() private centred = false;
  @state() private on: boolean[] = fourPanels.map(() => true);
  @state() private answer: DecomposeAnswer | undefined;
  @state() private failure: string | undefined;
  @state() private cursor = { i: 3, j: 2 };
  @queryAll('canvas[data-panel]') private panelMaps!: NodeListOf<HTMLCanvasElement>;

  private questions = asker(
    'decompose',
    (answer) => {
      // An answer to the other view, asked before the reader changed it, has other panels.
      if (answer.panels.length !== this.kinds.length) return;
      this.failure = undefined;
      this.answer = answer;
      const last = Math.max(0, answer.n - 1);
      this.cursor = { i: Math.min(this.cursor.i, last), j: Math.min(this.cursor.j, last) };
    },
    (sentenceOfFailure) => {
      this.failure = sentenceOfFailure;
    },
  );
  private stopListening?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopListening = sentence.listen(() => this.ask());
    this.ask();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopListening?.();
  }

  private get kinds(): PanelKind[] {
    return this.all ? sixteenPanels : fourPanels;
  }

  private ask(): void {
    const request: DecomposeRequest = {
      text: sentence.get(),
      head: this.head,
      panels: this.kinds.map(({ terms }) => terms),
      on: this.on,
    };
    this.questions.ask(request);
  }

  private showAll(all: boolean): void {
    this.all = all;
    this.on = this.kinds.map(() => true);
    this.answer = undefined;
    this.ask();
  }

  private toggle(panel: number): void {
    this.on = this.on.map((one, place) => (place === panel ? !one : one));
    this.ask();
  }

  override render(): TemplateResult {
    return html`
      ${this.controls()} ${this.problem(this.failure, () => this.ask())}
      ${
        this.answer
          ? this.maps(this.answer)
          : this.failure
            ? nothing
            : html`<p class="note" role="status">Fetching MiniLM: its tokenizer, its first layer and the rows of your words…</p>`
      }
    `;
  }

  private controls(): TemplateResult {
    return html`
      <div class="controls">
        <div class="choices">
          <label><input type="radio" name="view" .checked=${!this.all} @change=${() => this.showAll(false)} />Four questions</label>
          <label><input type="radio" name="view" .checked=${this.all} @change=${() => this.showAll(true)} />All sixteen terms</label>
          <label><input type="checkbox" name="centred" .checked=${this.centred}
            @change=${(event: Event) => {
              this.centred = (event.target as HTMLInputElement).checked;
            }} />Centre each row (what softmax sees)</label>
        </div>
        <label>Head of layer 0
          <select name="head" @change=${(event: Event) => {
            this.head = Number((event.target as HTMLSelectElement).value);
            this.ask();
          }}>
            ${Array.from({ length: heads }, (_, head) => html`<option value=${head} ?selected=${head === this.head}>Head ${head}${hints[head] ? ` – ${hints[head]}` : ''}</option>`)}
          </select>
        </label>
      </div>
    `;
  }

  private maps(answer: DecomposeAnswer): TemplateResult {
    const said = remark(answer.tokens, answer.dropped);
    const largest = largestMagnitude(this.shownArrays(answer));
    const unit = this.centred ? 'logit minus its row’s mean' : 'logit';
    return html`
      ${said ? html`<p class="note" role="status">${said}</p>` : nothing}
      <ol class="chips" tabindex="0" aria-label="Tokens; the query is framed, the key is filled">
        ${answer.tokens.map((token, place) => html`<li class="${place === this.cursor.i ? 'query' : ''} ${place === this.cursor.j ? 'key' : ''}">${token}</li>`)}
      </ol>
      <div class="maps ${this.all ? 'sixteen' : ''}"><div>
      <div class="surface" tabindex="0" role="application" aria-roledescription="heat maps"
        aria-label="One heat map for each term, queries down and keys across. Arrow keys choose a query and a key."
        aria-describedby="finding" @keydown=${this.step}>
        ${this.kinds.map((kind, place) => this.panel(kind, place, answer))}
      </div>
      <p class="legend">
        <span>−${readable(largest)}</span><span class="ramp" .style=${`background:${colourRamp('diverging')}`}></span><span>+${readable(largest)}</span>
        <span>${unit}, one scale for all maps; queries down, keys across</span>
      </p>
      </div>
      <div class="results">
        ${this.result('= the score', 'logits', answer.n, 'All terms together.')}
        ${this.result('softmax of the terms on', 'softmax', answer.n, html`<span class="legend"><span>0</span><span class="ramp" .style=${`background:${colourRamp('sequential')}`}></span><span>1</span></span>What attention does with them.`)}
        <div class="words">
          ${this.readout(answer)}
        </div>
      </div>
      </div>
      <p class="finding" id="finding">${describe(this.kinds, answer)}</p>
    `;
  }

  private panel(
    { label, question, colour }: PanelKind,
    place: number,
    answer: DecomposeAnswer,
  ): TemplateResult {
    const on = this.on[place];
    return html`
      <div class="panel" data-term=${colour}>
        <label class="name"><input type="checkbox" .checked=${on} @change=${() => this.toggle(place)} />${label}</label>
        <div class="map ${on ? '' : 'off'}" @pointermove=${this.pick} @pointerdown=${this.pick}>
          <canvas data-panel=${place}></canvas>${this.marker(answer.n)}
        </div>
        ${question ? html`<p>${question}</p>` : nothing}
      </div>
    `;
  }

  private result(name: string, which: 'logits' | 'softmax', n: number, caption: unknown): TemplateResult {
    return html`
      <div class="panel">
        <div class="result-name">${name}</div>
        <div class="map" @pointermove=${this.pick} @pointerdown=${this.pick}>
          <canvas data-result=${which}></canvas>${this.marker(n)}
        </div>
        <p>${caption}</p>
      </div>
    `;
  }

  private marker(n: number): TemplateResult {
    return html`<svg viewBox="0 0 ${n} ${n}" aria-hidden="true"><rect x=${this.cursor.j} y=${this.cursor.i} width="1" height="1"></rect></svg>`;
  }

  /** The chosen cell as a sum, and the shares of the whole head. */
  private readout(answer: DecomposeAnswer): TemplateResult {
    const { i, j } = this.cursor;
    const cell = i * answer.n + j;
    const shown = (panel: { sum: Float64Array; centred: Float64Array }) =>
      (this.centred ? panel.centred : panel.sum)[cell] as number;
    const all = this.on.every(Boolean);
    return html`
      <div class="readout">
        <div aria-live="polite">
          <h3>Query <q>${answer.tokens[i]}</q> (${i}), key <q>${answer.tokens[j]}</q> (${j})</h3>
          <ul class="sum">
            ${this.kinds.map(
              ({ label, colour }, place) => html`
                <li data-term=${colour}>
                  <span class=${this.on[place] ? '' : 'off'}><span class="swatch"></span>${label}</span>
                  <span class="number ${this.on[place] ? '' : 'off'}" data-cell=${place}>${signed(shown(answer.panels[place] as never))}</span><span></span>
                </li>`,
            )}
            <li><span class="total">= score</span><span class="number total" data-cell="logits">${readable(shown(answer.logits))}</span><span></span></li>
            ${all ? nothing : html`<li><span>of the terms on</span><span class="number" data-cell="kept">${readable(shown(answer.kept))}</span><span></span></li>`}
            <li><span>softmax</span><span class="number" data-cell="softmax">${percent(answer.kept.softmax[cell] as number)}</span><span></span></li>
          </ul>
          <p class="note">Largest gap between the sum of all terms and the score computed directly: <span data-value="residual">${exponent(answer.residual)}</span>.</p>
        </div>
        <h3>Share of the score’s variation over keys</h3>
        ${this.shares(answer)}
      </div>
    `;
  }

  private shares(answer: DecomposeAnswer): TemplateResult {
    const shares = answer.panels.map(({ share }) => share);
    const low = Math.min(0, ...shares);
    const high = Math.max(1, ...shares);
    const across = (value: number) => (100 * (value - low)) / (high - low);
    return html`
      <ul class="sum">
        ${this.kinds.map(({ label, colour }, place) => {
          const share = shares[place] as number;
          const from = across(Math.min(0, share));
          const wide = Number.isFinite(share) ? across(Math.max(0, share)) - from : 0;
          return html`
            <li data-term=${colour}>
              <span><span class="swatch"></span>${label}</span>
              <span class="number" data-share=${place}>${percent(share)}</span>
              <span class="bar" .style=${`--zero:${across(0)}%`}><span .style=${`left:${from}%;width:${wide}%`}></span></span>
            </li>`;
        })}
      </ul>
    `;
  }

  private shownArrays(answer: DecomposeAnswer): Float64Array[] {
    return [...answer.panels, answer.logits].map(({ sum, centred }) => (this.centred ? centred : sum));
  }

  override updated(): void {
    const { answer } = this;
    if (!answer) return;
    const arrays = this.shownArrays(answer);
    const largest = largestMagnitude(arrays);
    for (const canvas of this.panelMaps) {
      drawHeatmap(
        canvas,
        arrays[Number(canvas.dataset.panel)] as Float64Array,
        answer.n,
        -largest,
        largest,
        'diverging',
      );
    }
    const result = (which: string) =>
      this.renderRoot.querySelector(`canvas[data-result=${which}]`) as HTMLCanvasElement;
    drawHeatmap(result('logits'), arrays.at(-1) as Float64Array, answer.n, -largest, largest, 'diverging');
    drawHeatmap(result('softmax'), answer.kept.softmax, answer.n, 0, 1, 'sequential');
  }

  private pick(event: PointerEvent): void {
    const n = this.answer?.n ?? 0;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const place = (fraction: number) => Math.max(0, Math.min(n - 1, Math.floor(fraction * n)));
    const i = place((event.clientY - box.top) / box.height);
    const j = place((event.clientX - box.left) / box.width);
    if (i !== this.cursor.i || j !== this.cursor.j) this.cursor = { i, j };
  }

  private step(event: KeyboardEvent): void {
    // Space belongs to the check boxes inside.
    const next = moved(this.cursor, event.key, this.answer?.n ?? 0);
    if (!next) return;
    this.cursor = next;
    event.preventDefault();
  }
}

/** What the tests find these heads to do, over ten sentences. */
const hints: Record<number, string> = {
  0: 'mostly words',
  1: 'mostly words',
  2: 'looks at the token before',
  10: 'mostly words',
};

/** The finding in words, with its numbers. */
function describe(kinds: PanelKind[], answer: DecomposeAnswer): string {
  if (!Number.isFinite(answer.panels[0]?.share ?? Number.NaN)) {
    return 'The scores do not vary along their rows, so there is nothing to share out.';
  }
  const ranked = kinds
    .map(({ label }, place) => ({ label, share: answer.panels[place]?.share as number }))
    .sort((a, b) => b.share - a.share);
  const [first, second] = ranked as [(typeof ranked)[0], (typeof ranked)[0]];
  const last = ranked.at(-1) as (typeof ranked)[0];
  const against = last.share < 0 ? ` ${last.label} works against the rest, with ${percent(last.share)}.` : '';
  return `For this sentence, ${first.label} makes up ${percent(first.share)} of what head ${answer.head} varies by, and ${second.label} ${percent(second.share)}.${against}`;
}
