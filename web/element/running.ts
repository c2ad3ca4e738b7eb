// A figure that is shown while it runs: draws its frames, and lets the reader pause it, take a step or run it
// again. It waits in a hidden tab. Readers who prefer less motion see only the end, unless they ask to see
// the run. A recorded run can be played: a button moves one of its settings through its values, while the data stay, and
// where there is less motion shows a few stills.
import { html, type LitElement, type ReactiveController, type TemplateResult } from 'lit';
import type { State, Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import type { AskOptions } from '../worker/client.js';
import type { Order } from '../worker/transports.js';
import type { Answer } from './exports.js';
import type { Speech } from './speech.js';

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

/** Where there is less motion: one for each quarter of the time. */
const stills = 4;

export interface RunHost extends LitElement {
  readonly asking: {
    readonly answer: Answer | undefined;
    readonly asked: State | undefined;
    readonly fraction: number | undefined;
    readonly settings: State;
    order(order: Order): void;
    present(answer: Answer): void;
    train(held: boolean): void;
    play(value: Value, between: Value): void;
    change(name: string, value: Value, settled: boolean): void;
  };
  readonly speech: Speech;
}

export class Running implements ReactiveController {
  /** The reader has paused it. */
  held = false;
  /** The reader has asked to see this run, or a step of it. */
  #wanted = false;
  readonly playing: Playing | undefined;
  /** The frame to draw next; a newer one replaces it. */
  #newest: Answer | undefined;
  #drawing = 0;

  constructor(
    private readonly host: RunHost,
    private readonly figure: AnyFigure,
  ) {
    host.addController(this);
    this.playing = figure.plays && new Playing(host, figure, figure.plays);
  }

  hostConnected(): void {
    document.addEventListener('visibilitychange', this.#follow);
  }

  hostDisconnected(): void {
    document.removeEventListener('visibilitychange', this.#follow);
    this.ended();
  }

  /** The element is another figure now. */
  end(): void {
    this.hostDisconnected();
    this.host.removeController(this);
  }

  get #waits(): boolean {
    return this.held || document.hidden;
  }

  #follow = (): void => this.host.asking.order(this.#waits ? 'hold' : 'go');

  /** How new settings are asked for. If only the look changes, the run goes on, or stays held. */
  options(asked: State | undefined, settings: State): AskOptions {
    const looks = this.figure.runs?.looks(settings) ?? [];
    const look =
      asked !== undefined &&
      Object.keys(settings).every((name) => looks.includes(name) || settings[name] === asked[name]);
    if (!look) this.held = this.#wanted = false;
    return { look, held: this.#waits || undefined };
  }

  frame(answer: Answer): void {
    // The finished picture stays until the reader starts a run.
    if (!this.#wanted && (lessMotion.matches || !this.host.asking.answer)) return;
    this.#newest = answer;
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      if (this.#newest) this.host.asking.present(this.#newest);
      this.#newest = undefined;
    });
  }

  /** The run is over: its end is shown next, not a frame that still waits. */
  ended(): void {
    this.#newest = undefined;
    if (!this.host.asking.asked) this.held = false;
  }

  #press = (): void => {
    const { asking } = this.host;
    this.#wanted = this.host.speech.changed = true;
    if (asking.asked) {
      this.held = !this.held;
      this.#follow();
      if (this.held) this.host.speech.finding();
    } else asking.train(this.#waits);
    this.host.requestUpdate();
  };

  #step = (): void => {
    const { asking } = this.host;
    const begun = asking.asked !== undefined;
    this.#wanted = this.held = this.host.speech.changed = true;
    if (!begun) asking.train(true);
    this.#follow();
    asking.order('step');
    this.host.requestUpdate();
  };

  tools(): TemplateResult {
    const { asked, fraction = 0 } = this.host.asking;
    const main = !asked ? (this.figure.runs?.button ?? 'Train') : this.held ? 'Continue' : 'Pause';
    const far = asked ? `${Math.round(100 * fraction)} %` : 'done';
    return html`<div class="wide busy" role="group" aria-label="Training">
      <button class="main" @click=${this.#press}>${main}</button><button @click=${this.#step}>Step</button>
      <progress max="1" .value=${asked ? fraction : 1} aria-label="Trained so far"></progress>
      <span class="said" aria-hidden="true">${far}</span></div>`;
  }
}

type Plays = NonNullable<AnyFigure['plays']>;

class Playing {
  /** The settings as it has left them; anybody else's change ends it. */
  #settings: State | undefined;
  #begun = 0;
  readonly #values: readonly number[];

  constructor(
    private readonly host: RunHost,
    { controls }: AnyFigure,
    private readonly plays: Plays,
  ) {
    this.#values = controls[plays.setting as string].values;
  }

  get going(): boolean {
    return this.#settings !== undefined && this.#settings === this.host.asking.settings;
  }

  #press = (): void => {
    if (this.going) this.#end();
    else {
      this.host.speech.say(`This takes ${this.plays.seconds} seconds.`);
      this.#begun = performance.now();
      this.#settings = this.host.asking.settings;
      this.#frame();
    }
  };

  #frame = (): void => {
    const { asking, isConnected } = this.host;
    if (!this.going || !isConnected) return;
    const time = (performance.now() - this.#begun) / (1000 * this.plays.seconds);
    const part = lessMotion.matches ? Math.floor(time * stills) / stills : time;
    if (part >= 1) {
      this.#end();
      return;
    }
    const between = this.plays.at(part);
    const [least] = this.#values;
    asking.play(this.#values.findLast((one) => one <= between) ?? (least as Value), between);
    this.#settings = asking.settings;
    requestAnimationFrame(this.#frame);
  };

  #end(): void {
    this.#settings = undefined;
    this.host.asking.change(this.plays.setting as string, this.#values.at(-1) as Value, true);
  }

  button(): TemplateResult {
    return html`<div><button class="main" @click=${this.#press}>${
      this.going ? 'To the end' : this.plays.button
    }</button></div>`;
  }
}
