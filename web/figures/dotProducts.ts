// Figure "Adding versus concatenating": every pair of tokens as a point, and what moves it off the line.
import { type Bin, bin, extent } from 'd3-array';
import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { area, curveStepAfter } from 'd3-shape';
import { html, nothing, svg, type TemplateResult, unsafeCSS } from 'lit';
import { customElement, query, state } from 'lit/decorators.js';
import type { DotProductName } from 'superpose';
import type { TermColour } from '../plot/colour.js';
import { readable, signed } from '../plot/format.js';
import { asker } from '../worker/client.js';
import type { DotProductsAnswer, DotProductsRequest, Encoding } from '../worker/protocol.js';
import styles from './dotProducts.css?inline';
import { Figure, moved, sharedStyles } from './figure.js';
import { remark, sentence } from './sentence.js';
import './sentenceInput.js';

interface Row {
  name: DotProductName;
  label: string;
  term?: TermColour;
}

/** From the parts to the sum, in the order in which they are read. */
const rows: Row[] = [
  { name: 'tokenToken', label: 'token · token', term: 'token-token' },
  { name: 'positionPosition', label: '+ position · position', term: 'position-position' },
  { name: 'concatenated', label: '= concatenated' },
  { name: 'tokenPosition', label: '+ token · position', term: 'token-position' },
  { name: 'positionToken', label: '+ position · token', term: 'position-token' },
  { name: 'added', label: '= added' },
];

const encodings: Record<Encoding, string> = {
  interleaved: 'Sinusoidal, as in the 2017 paper',
  concatenated: 'Sinusoidal, as in tensor2tensor',
  random: 'Random, of the same length',
  learned: 'Learned: MiniLM’s own',
};

const widths = [2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 512, 768, 1024];
/** Of the scatter's drawing, in its own units; CSS scales it. */
const size = 420;
const margin = { left: 46, right: 10, top: 10, bottom: 40 };
const seedLimit = 2 ** 32;

@customElement('superpose-dot-products')
export class DotProductsFigure extends Figure {
  static override styles = [sharedStyles, unsafeCSS(styles)];

  @state() private request: DotProductsRequest = {
    source: 'seeded',
    text: sentence.get(),
    n: 32,
    d_model: 64,
    positionScale: 1,
    encoding: 'interleaved',
    seed: 1,
  };
  @state() private answer: DotProductsAnswer | undefined;
  @state() private failure: string | undefined;
  @state() private cursor = { i: 0, j: 1 };
  @query('canvas') private canvas!: HTMLCanvasElement;

  private questions = asker(
    'dotProducts',
    (answer) => {
      this.failure = undefined;
      if (answer.n !== this.answer?.n) this.cursor = widestGap(answer);
      this.answer = answer;
      this.dispatchEvent(new Event('drawn'));
    },
    (sentenceOfFailure) => {
      this.failure = sentenceOfFailure;
    },
  );
  private stopListening?: () => void;

  override connectedCallback(): void {
    super.connectedCallback();
    this.stopListening = sentence.listen((text) => {
      if (this.request.source === 'sentence') this.change({ text });
    });
    this.questions.ask(this.request);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopListening?.();
  }

  private change(part: Partial<DotProductsRequest>): void {
    this.request = { ...this.request, ...part };
    this.questions.ask(this.request);
  }

  private chooseSource(source: DotProductsRequest['source']): void {
    const own: Encoding = source === 'sentence' ? 'learned' : 'interleaved';
    this.change({ source, encoding: own, text: sentence.get() });
  }

  override render(): TemplateResult {
    const ownText =
      this.request.source === 'sentence' ? html`<superpose-sentence></superpose-sentence>` : nothing;
    return html`${this.controls()} ${ownText} ${this.problem(this.failure, () => this.change({}))}
      ${this.answer ? this.plots(this.answer) : html`<p class="note">Computing…</p>`}`;
  }

  private controls(): TemplateResult {
    const { source, n, d_model, positionScale, encoding, seed } = this.request;
    const fromModel = source === 'sentence';
    const shown = fromModel && this.answer ? this.answer : { n, d_model };
    const offered = (Object.keys(encodings) as Encoding[]).filter((one) => fromModel || one !== 'learned');
    return html`
      <div class="controls">
        <fieldset>
          <legend>Tokens</legend>
          <div class="choices">
            <label><input type="radio" name="source" .checked=${!fromModel} @change=${() => this.chooseSource('seeded')} />Random (seeded)</label>
            <label><input type="radio" name="source" .checked=${fromModel} @change=${() => this.chooseSource('sentence')} />Your sentence in MiniLM (trained)</label>
          </div>
        </fieldset>
        <label>Positions
          <select @change=${(event: Event) => this.change({ encoding: (event.target as HTMLSelectElement).value as Encoding })}>
            ${offered.map((one) => html`<option value=${one} ?selected=${one === encoding}>${encodings[one]}</option>`)}
          </select>
        </label>
        <label>Width d <b class="value">${shown.d_model}</b>
          <input type="range" name="d" min="0" max=${widths.length - 1} step="1" ?disabled=${fromModel}
            .value=${String(widths.indexOf(d_model))} aria-valuetext=${String(shown.d_model)}
            @input=${(event: Event) => this.change({ d_model: widths[sliderValue(event)] as number })} />
        </label>
        <label>Position scale ρ <b class="value">${positionScale.toFixed(2)}</b>
          <input type="range" name="scale" min="0" max="4" step="0.05" .value=${String(positionScale)}
            @input=${(event: Event) => this.change({ positionScale: sliderValue(event) })} />
        </label>
        <label>Number of tokens <b class="value">${shown.n}</b>
          <input type="range" name="n" min="2" max="128" step="1" ?disabled=${fromModel}
            .value=${String(n)} @input=${(event: Event) => this.change({ n: sliderValue(event) })} />
        </label>
        <div>
          <span class="label">Seed</span>
          <span class="seed"><b>${seed}</b>
            <button @click=${() => this.change({ seed: (seed + 1) % seedLimit })}
              ?disabled=${fromModel && encoding !== 'random'}>Draw again</button></span>
        </div>
      </div>
    `;
  }

  private plots(answer: DotProductsAnswer): TemplateResult {
    const said = this.request.source === 'sentence' ? remark(answer.tokens, answer.dropped) : '';
    return html`
      <div class="plots">
        <div>
          ${this.scatter(answer)}
          <p class="readout" aria-live="polite">${this.pair(answer)}</p>
        </div>
        <div>
          ${this.distributions(answer)}
          <p class="finding" id="finding">${describe(answer)}</p>
          ${said ? html`<p class="note">${said}</p>` : nothing}
          <details>
            <summary>The numbers as a table</summary>
            ${table(answer)}
          </details>
        </div>
      </div>
    `;
  }

  private scatter(answer: DotProductsAnswer): TemplateResult {
    const { x, y } = scales(answer);
    const { i, j } = this.cursor;
    const at = (name: DotProductName) => answer[name][i * answer.n + j] ?? Number.NaN;
    const concatenated = at('concatenated');
    const halfway = concatenated + at('tokenPosition');
    const [low, high] = x.domain() as [number, number];
    const ticks = x.ticks(5);
    return html`
      <div class="surface" tabindex="0" role="application" aria-roledescription="scatter plot"
        aria-label="Dot product of each pair of tokens: concatenated across, added up. Arrow keys choose the pair."
        aria-describedby="finding" @pointermove=${this.pick} @pointerdown=${this.pick} @keydown=${this.step}>
        <canvas width=${2 * size} height=${2 * size}></canvas>
        <svg viewBox="0 0 ${size} ${size}" aria-hidden="true">
          ${ticks.map(
            (tick) => svg`
              <line class="grid" x1=${x(tick)} x2=${x(tick)} y1=${y.range()[1]} y2=${y.range()[0]} />
              <line class="grid" y1=${y(tick)} y2=${y(tick)} x1=${x.range()[0]} x2=${x.range()[1]} />
              <text x=${x(tick)} y=${size - margin.bottom + 16} text-anchor="middle">${axisLabel(tick)}</text>
              <text x=${margin.left - 6} y=${y(tick) + 4} text-anchor="end">${axisLabel(tick)}</text>`,
          )}
          <line class="equal" x1=${x(low)} y1=${y(low)} x2=${x(high)} y2=${y(high)} />
          <text x=${x(high)} y=${size - 6} text-anchor="end">concatenated: [x; ρp] · [x′; ρp′] →</text>
          <text transform="translate(12 ${margin.top + 4}) rotate(-90)" text-anchor="end">added: (x + ρp) · (x′ + ρp′) →</text>
          ${
            i === j || Number.isNaN(concatenated)
              ? nothing
              : svg`
              <line class="step" data-term="token-position" x1=${x(concatenated)} x2=${x(concatenated)} y1=${y(concatenated)} y2=${y(halfway)} />
              <line class="step" data-term="position-token" x1=${x(concatenated)} x2=${x(concatenated)} y1=${y(halfway)} y2=${y(at('added'))} />
              <circle cx=${x(concatenated)} cy=${y(at('added'))} r="6" />`
          }
        </svg>
      </div>
    `;
  }

  private pair(answer: DotProductsAnswer): TemplateResult {
    const { i, j } = this.cursor;
    const at = (name: DotProductName) => answer[name][i * answer.n + j] ?? Number.NaN;
    const term = (name: DotProductName, colour: TermColour) =>
      html`<span data-term=${colour}><span class="swatch"></span>${signed(at(name))}</span>`;
    return html`<b>${answer.tokens[i]}</b> (${i}) with <b>${answer.tokens[j]}</b> (${j}):
      concatenated <span data-value="concatenated">${readable(at('concatenated'))}</span>
      ${term('tokenPosition', 'token-position')} ${term('positionToken', 'position-token')}
      = added <span data-value="added">${readable(at('added'))}</span>`;
  }

  private distributions(answer: DotProductsAnswer): TemplateResult {
    const values = rows.map(({ name }) => offDiagonal(answer[name], answer.n));
    const [low = 0, high = 0] = extent([0, ...values.flatMap((row) => extent(row) as [number, number])]);
    const x = scaleLinear([low, high], [0, 100]).nice();
    const [start, end] = x.domain() as [number, number];
    const bins = bin<number, number>()
      .value((value) => value)
      .domain([start, end])
      .thresholds(x.ticks(64));
    const percentAcross = (value: number) => `${x(value)}%`;
    return html`
      <div class="distribution" aria-hidden="true">
        ${rows.map((row, place) => {
          const { mean, deviation } = answer.moments[row.name];
          return html`
            <div class=${row.term ? '' : 'sum'} data-term=${row.term ?? ''}>
              ${row.term ? html`<span class="swatch"></span>` : nothing}${row.label}
              <small>${readable(mean)} ± ${readable(deviation)}</small>
            </div>
            <svg viewBox="0 0 100 40" preserveAspectRatio="none" data-term=${row.term ?? ''}>
              <line class="zero" x1=${x(0)} x2=${x(0)} y1="0" y2="40" />
              <path d=${histogram(bins(values[place] as number[]), x)}></path>
            </svg>
          `;
        })}
        <div></div>
        <svg class="axis">${x.ticks(5).map((tick) => svg`<text x=${percentAcross(tick)} y="14">${axisLabel(tick)}</text>`)}</svg>
      </div>
    `;
  }

  override updated(): void {
    if (!this.answer || !this.canvas) return;
    drawPoints(this.canvas, this.answer, getComputedStyle(this).getPropertyValue('--accent'));
  }

  private pick(event: PointerEvent): void {
    if (!this.answer) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const scale = size / box.width;
    const found = nearest(this.answer, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    if (found) this.cursor = found;
  }

  private step(event: KeyboardEvent): void {
    const n = this.answer?.n ?? 0;
    let next = moved(this.cursor, event.key, n);
    if (!next) return;
    // A token with itself is not a pair: step over it, or stay.
    if (next.i === next.j) next = moved(next, event.key, n) ?? next;
    if (next.i !== next.j) this.cursor = next;
    event.preventDefault();
  }
}

const sliderValue = (event: Event) => Number((event.target as HTMLInputElement).value);

const axisLabel = (tick: number) => String(tick).replace('-', '−');

type Scales = { x: ScaleLinear<number, number>; y: ScaleLinear<number, number> };

/** One domain for both axes, so that the line of equality is a diagonal. */
function scales(answer: DotProductsAnswer): Scales {
  const both = [...offDiagonal(answer.concatenated, answer.n), ...offDiagonal(answer.added, answer.n)];
  const [low = 0, high = 1] = extent(both) as [number?, number?];
  const x = scaleLinear([low, high], [margin.left, size - margin.right]).nice();
  const y = scaleLinear(x.domain(), [size - margin.bottom, margin.top]);
  return { x, y };
}

/** The values of the pairs i < j. */
function offDiagonal(matrix: ArrayLike<number>, n: number): number[] {
  const values: number[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) values.push(matrix[i * n + j] as number);
  return values;
}

function histogram(bins: Bin<number, number>[], x: ScaleLinear<number, number>): string {
  const highest = Math.max(1, ...bins.map((one) => one.length));
  const outline = bins.flatMap((one) => [
    [x(one.x0 as number), one.length],
    [x(one.x1 as number), one.length],
  ]) as [number, number][];
  return (
    area<[number, number]>()
      .x(([across]) => across)
      .y0(40)
      .y1(([, count]) => 40 - (38 * count) / highest)
      .curve(curveStepAfter)(outline) ?? ''
  );
}

function drawPoints(canvas: HTMLCanvasElement, answer: DotProductsAnswer, colour: string): void {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const { x, y } = scales(answer);
  const { n } = answer;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour;
  // Thousands of points are drawn fainter, so that their density shows.
  const pairs = (n * (n - 1)) / 2;
  context.globalAlpha = Math.max(0.22, Math.min(0.75, 300 / pairs));
  const width = pairs > 2000 ? 5 : 7;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const across = 2 * x(answer.concatenated[i * n + j] as number);
      const up = 2 * y(answer.added[i * n + j] as number);
      context.beginPath();
      context.arc(across, up, width / 2 + 1, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

function nearest(
  answer: DotProductsAnswer,
  across: number,
  up: number,
): { i: number; j: number } | undefined {
  const { x, y } = scales(answer);
  const { n, concatenated, added } = answer;
  let best: { i: number; j: number } | undefined;
  let least = Infinity;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const cell = i * n + j;
      const distance = (x(concatenated[cell] as number) - across) ** 2 + (y(added[cell] as number) - up) ** 2;
      if (distance < least) {
        least = distance;
        best = { i, j };
      }
    }
  }
  return best;
}

/** The pair that adding moves farthest: the one to look at first. */
function widestGap({ n, added, concatenated }: DotProductsAnswer): { i: number; j: number } {
  let widest = { i: 0, j: Math.min(1, n - 1) };
  let gap = -1;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const difference = Math.abs((added[i * n + j] as number) - (concatenated[i * n + j] as number));
      if (difference > gap) {
        gap = difference;
        widest = { i, j };
      }
    }
  }
  return widest;
}

/** The finding in words, with its numbers. */
function describe({ n, moments, correlation }: DotProductsAnswer): string {
  const pairs = (n * (n - 1)) / 2;
  const how = Number.isNaN(correlation)
    ? `There are too few pairs, ${pairs}, for a correlation.`
    : `Over ${pairs} pairs, the two dot products correlate at ${correlation.toFixed(3).replace('-', '−')}.`;
  return `${how} The cross terms, which only adding has, average ${readable(moments.crossTerms.mean)} and spread ±${readable(moments.crossTerms.deviation)}; the concatenated dot products themselves spread ±${readable(moments.concatenated.deviation)}.`;
}

function table({ moments }: DotProductsAnswer): TemplateResult {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Means and standard deviations">
      <table>
        <thead><tr><th scope="col">Dot product, over pairs</th><th scope="col">mean</th><th scope="col">standard deviation</th></tr></thead>
        <tbody>
          ${rows.map(
            ({ name, label }) =>
              html`<tr><th scope="row">${label}</th><td>${readable(moments[name].mean)}</td><td>${readable(moments[name].deviation)}</td></tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}
