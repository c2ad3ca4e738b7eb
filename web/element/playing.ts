// A figure that can be played: a button moves one of its settings through its values, while the data stay. Readers
// who prefer less motion see a few stills.
import { html, type LitElement, type TemplateResult } from 'lit';
import type { State, Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import type { Asking } from './asking.js';
import type { Speech } from './speech.js';

const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

/** Where there is less motion: one for each quarter of the time. */
const stills = 4;

type Plays = NonNullable<AnyFigure['plays']>;

interface Host extends LitElement {
  readonly asking: Asking;
  readonly speech: Speech;
}

export class Playing {
  /** The settings as it has left them; anybody else's change ends it. */
  #settings: State | undefined;
  #begun = 0;

  constructor(private readonly host: Host) {}

  get going(): boolean {
    return this.#settings !== undefined && this.#settings === this.host.asking.settings;
  }

  #press = (plays: Plays, values: readonly number[]): void => {
    if (this.going) this.#end(plays, values);
    else {
      this.host.speech.say(`This takes ${plays.seconds} seconds.`);
      this.#begun = performance.now();
      this.#settings = this.host.asking.settings;
      this.#frame(plays, values);
    }
  };

  #frame(plays: Plays, values: readonly number[]): void {
    const { asking, isConnected } = this.host;
    if (!this.going || !isConnected) return;
    const time = (performance.now() - this.#begun) / (1000 * plays.seconds);
    const part = lessMotion.matches ? Math.floor(time * stills) / stills : time;
    if (part >= 1) {
      this.#end(plays, values);
      return;
    }
    const between = plays.at(part);
    asking.play(values.findLast((one) => one <= between) ?? (values[0] as Value), between);
    this.#settings = asking.settings;
    requestAnimationFrame(() => this.#frame(plays, values));
  }

  #end({ setting }: Plays, values: readonly number[]): void {
    this.#settings = undefined;
    this.host.asking.change(setting as string, values.at(-1) as Value, true);
  }

  button(plays: Plays, { controls }: AnyFigure): TemplateResult {
    const { values } = controls[plays.setting as string];
    return html`<div><button class="main" @click=${() => this.#press(plays, values)}>${
      this.going ? 'To the end' : plays.button
    }</button></div>`;
  }
}
