// A figure that is shown while it computes, such as one that trains: draws the frames that come from the
// worker, and lets the reader pause the job, take a step, or start it again. In a hidden tab the job waits.
// Readers who prefer less motion see only its end, unless they start it themselves.
import { html, type ReactiveController, type TemplateResult } from 'lit';
import type { State } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import type { AskOptions } from '../worker/client.js';
import type { Order } from '../worker/transports.js';
import type { Answer } from './exports.js';
import { lessMotion } from './motion.js';
import { Playback, type PlaybackHost } from './playback.js';
import type { RequestState } from './request.js';

export interface LiveJobHost extends PlaybackHost {
  readonly request: PlaybackHost['request'] & {
    readonly answer: Answer | undefined;
    readonly isComputing: boolean;
    readonly state: RequestState;
    order(order: Order): void;
    present(answer: Answer): void;
    train(paused: boolean): void;
  };
}

export class LiveJob implements ReactiveController {
  /** Whether the reader has paused the job. */
  paused = false;
  readonly playback: Playback | undefined;
  /** Whether the reader has started this job, or taken a step of it, and so wants to see its frames. */
  isWatched = false;
  /** The frame to draw next; a newer one replaces it. */
  #nextFrame: Answer | undefined;
  #drawing = 0;

  constructor(
    private readonly host: LiveJobHost,
    private readonly figure: AnyFigure,
  ) {
    host.addController(this);
    this.playback = figure.plays && new Playback(host, figure, figure.plays);
  }

  hostConnected(): void {
    document.addEventListener('visibilitychange', this.#orderTurns);
  }

  hostDisconnected(): void {
    document.removeEventListener('visibilitychange', this.#orderTurns);
    this.finish();
  }

  /** Detaches the job from an element that is becoming another figure. */
  remove(): void {
    this.hostDisconnected();
    this.host.removeController(this);
  }

  get #waits(): boolean {
    return this.paused || document.hidden;
  }

  #orderTurns = (): void => this.host.request.order(this.#waits ? 'pause' : 'go');

  /** The options for asking about new settings. If the job can show them, it goes on, or stays paused. */
  askOptions(computing: State | undefined, settings: State): AskOptions {
    const looks = this.figure.live?.looks(settings) ?? [];
    const look =
      computing !== undefined &&
      Object.keys(settings).every((name) => looks.includes(name) || settings[name] === computing[name]);
    if (!look) {
      this.paused = false;
      this.isWatched = false;
    }
    return { look, paused: this.#waits || undefined };
  }

  /** Draws a frame before the next repaint. */
  frame(answer: Answer): void {
    // The finished picture stays until the reader starts a job.
    if (!this.isWatched && (lessMotion.matches || !this.host.request.answer)) return;
    this.#nextFrame = answer;
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      if (this.#nextFrame) this.host.request.present(this.#nextFrame);
      this.#nextFrame = undefined;
    });
  }

  /** The job is over: its result is shown next, not a frame that still waits. */
  finish(): void {
    this.#nextFrame = undefined;
    if (!this.host.request.isComputing) this.paused = false;
  }

  #press = (): void => {
    const { request, speech } = this.host;
    this.isWatched = true;
    speech.changed = true;
    if (request.isComputing) {
      this.paused = !this.paused;
      this.#orderTurns();
      if (this.paused) speech.finding();
    } else {
      request.train(this.#waits);
    }
    this.host.requestUpdate();
  };

  #step = (): void => {
    const { request, speech } = this.host;
    const hasStarted = request.isComputing;
    this.isWatched = true;
    this.paused = true;
    speech.changed = true;
    if (!hasStarted) request.train(true);
    this.#orderTurns();
    request.order('step');
    this.host.requestUpdate();
  };

  tools(): TemplateResult {
    const { state } = this.host.request;
    const isComputing = state.is === 'computing';
    const fraction = isComputing ? (state.fraction ?? 0) : 1;
    const start = this.figure.live?.button ?? 'Train';
    const label = !isComputing ? start : this.paused ? 'Continue' : 'Pause';
    const progress = isComputing ? `${Math.round(100 * fraction)} %` : 'done';
    return html`<div class="wide busy" role="group" aria-label="Training">
      <button class="main" @click=${this.#press}>${label}</button><button @click=${this.#step}>Step</button>
      <progress max="1" .value=${fraction} aria-label="Trained so far"></progress>
      <span class="said" aria-hidden="true">${progress}</span></div>`;
  }
}
