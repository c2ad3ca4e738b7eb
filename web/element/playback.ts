// Plays a recorded run: a button moves one setting of the figure through its values, while the data stay.
// Where the reader prefers less motion, it shows a few stills.
import { html, type LitElement, type TemplateResult } from 'lit';
import type { State, Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { lessMotion } from './motion.js';
import type { Speech } from './speech.js';

/** How many stills a reader who prefers less motion sees: one for each quarter of the time. */
const stills = 4;

export interface PlaybackHost extends LitElement {
  readonly request: {
    readonly settings: State;
    play(value: Value, between: Value): void;
    change(name: string, value: Value, settled: boolean): void;
  };
  readonly speech: Speech;
}

type Plays = NonNullable<AnyFigure['plays']>;

export class Playback {
  /** The settings as the playback last left them; a change by anybody else ends it. */
  #settings: State | undefined;
  #startTime = 0;
  readonly #values: readonly number[];

  constructor(
    private readonly host: PlaybackHost,
    { controls }: AnyFigure,
    private readonly plays: Plays,
  ) {
    this.#values = controls[plays.setting as string].values;
  }

  get isPlaying(): boolean {
    return this.#settings !== undefined && this.#settings === this.host.request.settings;
  }

  /** Starts the playback, or goes to its end. */
  press = (): void => {
    if (this.isPlaying) {
      this.#end();
      return;
    }
    this.host.speech.say(`This takes ${this.plays.seconds} seconds.`);
    this.#startTime = performance.now();
    this.#settings = this.host.request.settings;
    this.#drawFrame();
  };

  #drawFrame = (): void => {
    const { request, isConnected } = this.host;
    if (!this.isPlaying || !isConnected) return;
    const time = (performance.now() - this.#startTime) / (1000 * this.plays.seconds);
    const part = lessMotion.matches ? Math.floor(time * stills) / stills : time;
    if (part >= 1) {
      this.#end();
      return;
    }
    const between = this.plays.at(part);
    const [least] = this.#values;
    const value = this.#values.findLast((value) => value <= between) ?? (least as Value);
    request.play(value, between);
    this.#settings = request.settings;
    requestAnimationFrame(this.#drawFrame);
  };

  #end(): void {
    this.#settings = undefined;
    this.host.request.change(this.plays.setting as string, this.#values.at(-1) as Value, true);
  }

  get label(): string {
    return this.isPlaying ? 'To the end' : this.plays.button;
  }

  button(): TemplateResult {
    return html`<div><button class="main" @click=${this.press}>${this.label}</button></div>`;
  }
}
