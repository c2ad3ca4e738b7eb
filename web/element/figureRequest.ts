// A figure's settings and its request for data: loads the figure's code, asks the worker while the reader is
// near, and takes the answers. What state the request is in, and what each event makes of it, is in
// request.ts.
import type { ReactiveController } from 'lit';
import {
  type Control,
  read,
  readState,
  type State,
  settingOf,
  type Value,
  writtenState,
} from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import { plainCopy } from '../plot/plainCopy.js';
import { type Asker, type AskOptions, asker } from '../worker/client.js';
import type { Order } from '../worker/transports.js';
import type { Cursors } from './cursor.js';
import type { Answer } from './exports.js';
import { hostPage } from './link.js';
import type { LiveJob, LiveJobHost } from './liveJob.js';
import { type ChangedTexts, forgetPageTexts, pageTexts, setPageTexts } from './pageTexts.js';
import { plainFigure } from './plainFigure.js';
import {
  computesSettings,
  idle,
  nextState,
  type RequestEvent,
  type RequestState,
  sameSettings,
  showsSettings,
} from './request.js';
import { Visibility } from './visibility.js';

/** How long after the last key a text is computed, in milliseconds. */
const typingPause = 120;
/** How long an outdated picture stays undimmed, in milliseconds. Most answers come sooner. */
const patience = 400;
/** An answer that comes within this many milliseconds is drawn in the frame that shows what was dragged. */
const sameFrame = 50;
const firstViewInstead = 'The figure’s first view is shown instead.';
const firstValueInstead = 'Its first value is used instead.';

export interface Change {
  state: State;
  /** The reader has let go of the input: the state is worth an entry in the history. */
  settled: boolean;
}

interface Host extends LiveJobHost {
  readonly name: string;
  readonly cursors: Cursors;
}

export class FigureRequest implements ReactiveController {
  figure: AnyFigure | undefined;
  settings: State = {};
  /** The settings that the page’s author gave, in attributes or a link: Reset goes back to them. */
  initialSettings: State | undefined;
  /** On the figures’ own page, those of the step beside the figure; none for its first view. */
  #stepSettings: [string, string][] = [];
  /** A sentence for each setting that could not be used. */
  refusals: string[] = [];
  state: RequestState = idle;
  /** Resolves with the dragged value’s answer, or after 50 ms: the page is laid out once for both. */
  nextAnswer: Promise<void> | undefined;
  /** The answer on screen when the reader began to drag something. */
  beforeDrag: Answer | undefined;
  /** Only for figures that are shown while they run. */
  liveJob: LiveJob | undefined;

  #name = '';
  #asker: Asker | undefined;
  #lateTimer = 0;
  #typingTimer = 0;
  #resolveNextAnswer = (): void => {};
  /** The settings of the latest call of `show`. */
  #latestShown: [string, string][] | undefined;
  readonly #visibility: Visibility;

  constructor(private readonly host: Host) {
    host.addController(this);
    this.#visibility = new Visibility(host, this);
  }

  hostConnected(): void {
    document.addEventListener('superpose-text', this.#hearText as EventListener);
  }

  hostDisconnected(): void {
    document.removeEventListener('superpose-text', this.#hearText as EventListener);
    // If the element is inserted again, it asks again.
    this.#cancel();
  }

  hostUpdate(): void {
    if (this.#takeName()) this.#visibility.computeInTurn();
  }

  /** The newest answer, perhaps for older settings. */
  get answer(): Answer | undefined {
    return this.state.answer;
  }

  get isComputing(): boolean {
    return this.state.is === 'computing';
  }

  /** Nothing has come of the request yet: no picture, no failure, no stop. */
  get isPending(): boolean {
    const { is, answer } = this.state;
    return !answer && is !== 'failed' && is !== 'stopped';
  }

  #apply(event: RequestEvent): void {
    const before = this.state;
    this.state = nextState(before, event);
    if (event.event === 'answered' || event.event === 'present' || event.event === 'failed')
      this.#resolveNextAnswer();
    if (this.state === before) return;
    if (this.state.is === 'computing' && this.state.picture === 'behind') {
      this.#lateTimer ||= window.setTimeout(() => this.#apply({ event: 'late' }), patience);
    } else {
      clearTimeout(this.#lateTimer);
      this.#lateTimer = 0;
    }
    if (!this.isPending) this.#visibility.letOthersCompute();
    this.host.requestUpdate();
  }

  /** A new name means another figure; nothing of the old one stays. Returns whether the name is new. */
  #takeName(): boolean {
    // A page's script may have set anything.
    const name = String(this.host.name);
    if (this.#name === name) return false;
    this.#cancel();
    this.#apply({ event: 'clear' });
    this.#name = name;
    this.liveJob?.remove();
    this.figure = undefined;
    this.#asker = undefined;
    this.beforeDrag = undefined;
    this.liveJob = undefined;
    this.settings = {};
    this.refusals = [];
    this.host.cursors.reset();
    return true;
  }

  /** Loads the figure's code, without computing anything. */
  async loaded(): Promise<AnyFigure | undefined> {
    this.#takeName();
    if (this.figure) return this.figure;
    const name = this.#name;
    if (!Object.hasOwn(figures, name)) {
      const { unknownName } = await import('../../src/api/unknownName.js');
      const sentence = unknownName('figure', name, Object.keys(figures));
      console.warn(`Superpose: ${sentence}`);
      this.#apply({ event: 'failed', sentence });
      return undefined;
    }
    try {
      const figure = plainFigure(await (figures[name] as () => Promise<AnyFigure>)());
      const code = figure.live && (await import('./liveJob.js'));
      // Meanwhile the name may have changed, or another call may have finished first.
      if (this.#takeName() || this.#name !== name) return this.loaded();
      if (this.figure) return this.figure;
      this.figure = figure;
      this.liveJob = code && new code.LiveJob(this.host, figure);
      this.#begin(figure);
      return figure;
    } catch {
      if (this.#name === name)
        this.#apply({ event: 'failed', sentence: 'This figure’s code could not be loaded.' });
      return undefined;
    }
  }

  /** Reads the attributes, and connects the figure with the worker. */
  #begin(figure: AnyFigure): void {
    this.#apply({ event: 'wait' });
    const attributes = Array.from(this.host.attributes, ({ name, value }): [string, string] => [
      settingOf(name),
      value,
    ]).filter(([setting]) => Object.hasOwn(figure.controls, setting));
    const { state, refused } = this.#read(attributes);
    this.#set(
      state,
      refused.map((sentence) => `${sentence} ${firstValueInstead}`),
    );
    this.initialSettings = this.settings;
    const answerOf = (data: unknown, state: State): Answer => ({
      data: plainCopy(data),
      state: this.#withPlayedValue(state),
    });
    this.#asker = asker(this.#name, {
      answered: (data, state) => {
        this.#apply({ event: 'answered', settings: state, answer: answerOf(data, state) });
        this.liveJob?.finish();
      },
      frame: (data, state) => {
        this.#apply({ event: 'frame', settings: state });
        this.liveJob?.frame(answerOf(data, state));
      },
      failed: (sentence) => {
        this.#apply({ event: 'failed', sentence });
        this.liveJob?.finish();
      },
      progress: (fraction) => this.#apply({ event: 'progress', fraction }),
    });
  }

  /** Says what the stand-in picture shows; undefined if it shows the present settings, or is unknown. */
  get otherPicture(): string | undefined {
    const { figure, settings } = this;
    const { standIn } = hostPage;
    if (!figure || !standIn) return undefined;
    const { state } = readState(figure.controls, standIn.settings);
    const texts = (values: State) => String(writtenState(figure.controls, values));
    return texts(figure.settle?.(state, undefined) ?? state) === texts(settings) ? undefined : standIn.called;
  }

  /**
   * Shows something other than the worker's last answer: a live job's frame, or the same data at another
   * value of the setting that plays.
   */
  present(answer: Answer): void {
    this.#apply({ event: 'present', answer });
  }

  /** The state with the present value of the setting that plays, on which the data do not depend. */
  #withPlayedValue(state: State): State {
    const name = this.figure?.plays?.setting as string | undefined;
    if (name === undefined || state[name] === this.settings[name]) return state;
    return { ...state, [name]: this.settings[name] as Value };
  }

  /** Shows the present data at another value of the setting that plays, or between two of its values. */
  play(value: Value, between: Value = value): void {
    const name = this.figure?.plays?.setting as string;
    this.settings = { ...this.settings, [name]: value };
    const { answer } = this;
    if (answer) this.present({ data: answer.data, state: { ...answer.state, [name]: between } });
  }

  /** Sends an order to the live job under way. */
  order(order: Order): void {
    this.#asker?.order(order);
  }

  /** Starts a new live job; with `paused` it waits before its first turn. */
  train(paused: boolean): void {
    this.#ask({ again: true, paused: paused || undefined });
  }

  /**
   * Shows a state that comes from outside: a link, or the page. `problem` is a sentence about what was wrong.
   */
  async show(settings: [string, string][], problem?: string): Promise<void> {
    this.#latestShown = settings;
    const figure = await this.loaded();
    // While the code was loaded, another state may have been asked for.
    if (!figure || this.#latestShown !== settings) return;
    const { state, refused } = this.#read(settings);
    // A link with anything impossible in it gives the first view, and says so.
    const problems = problem === undefined ? refused : [problem];
    this.#set(
      refused.length > 0 ? this.#read([]).state : state,
      problems.length > 0 ? [...problems, firstViewInstead] : [],
    );
    this.host.cursors.isPinned = false;
    this.beforeDrag = undefined;
    this.#ask();
  }

  /** The names of the texts that the figure shares with the page; none on somebody else's page. */
  get #sharedTexts(): string[] {
    const controls: [string, Control][] = Object.entries(this.figure?.controls ?? {});
    return controls.flatMap(([name, control]) =>
      control.kind === 'text' && control.shared && !hostPage.foreign ? [name] : [],
    );
  }

  /** Reads settings. A shared text that is not among them comes from the page. */
  #read(settings: Iterable<readonly [string, string]>) {
    const { controls } = this.figure as AnyFigure;
    const texts = this.#sharedTexts.flatMap((name): [string, string][] => {
      const text = pageTexts()[name];
      return text !== undefined && read(controls[name] as Control, text) !== undefined ? [[name, text]] : [];
    });
    return readState(controls, [...texts, ...settings]);
  }

  /** Whether the figure shows a text that the reader has given in place of the recorded one. */
  get showsUserText(): boolean {
    const unused = new Set(this.figure?.unused?.(this.settings) ?? []);
    return this.#sharedTexts.some(
      (name) => !unused.has(name) && this.settings[name] !== this.figure?.controls[name]?.initial,
    );
  }

  #set(state: State, refusals: string[], changed?: string): void {
    this.settings = this.figure?.settle?.(state, changed) ?? state;
    this.refusals = refusals;
    this.host.requestUpdate();
  }

  /** Computes what is still missing when the reader comes near. */
  async compute(): Promise<void> {
    if (!this.#visibility.isNear || !(await this.loaded())) return;
    const { state, settings } = this;
    if (state.is === 'failed' || state.is === 'stopped') return;
    if (!showsSettings(state, settings) && !computesSettings(state, settings)) this.#ask();
  }

  /** Asks for the data of the present settings; off screen nothing is computed. */
  #ask(options?: AskOptions): void {
    if (!this.#visibility.isNear || !this.#asker) {
      this.#apply({ event: 'wait' });
      return;
    }
    const { state, settings } = this;
    const computing = state.is === 'computing' ? state.settings : undefined;
    this.#apply({ event: 'ask', settings });
    this.#asker.ask(settings, options ?? this.liveJob?.askOptions(computing, settings));
  }

  again = (): void => {
    if (this.figure) this.#ask();
    else {
      this.#apply({ event: 'clear' });
      this.#visibility.computeInTurn();
    }
  };

  stop = (): void => {
    this.#asker?.cancel();
    this.#apply({ event: 'stop' });
  };

  #cancel(): void {
    this.#asker?.cancel();
    this.#apply({ event: 'cancel' });
  }

  /** The reader has changed a setting. */
  change(name: string, value: Value, settled: boolean): void {
    if (!this.figure) return;
    this.beforeDrag = settled ? undefined : (this.beforeDrag ?? this.answer);
    this.host.speech.changed = true;
    if (!settled) this.#awaitAnswer();
    const isShown = showsSettings(this.state, this.settings);
    const isCovered = isShown || computesSettings(this.state, this.settings);
    if (settled && value === this.settings[name] && isCovered) {
      // The reader lets go of a value already asked for: only axes that stood still in the drag may move now.
      if (isShown) this.present({ ...(this.answer as Answer) });
    } else {
      this.#set({ ...this.settings, [name]: value }, [], name);
      if (name === this.figure.plays?.setting && this.answer) this.play(value);
      else this.#ask();
    }
    this.#announce(settled);
  }

  #awaitAnswer(): void {
    this.nextAnswer ??= new Promise<void>((resolve) => {
      this.#resolveNextAnswer = resolve;
      setTimeout(resolve, sameFrame);
    }).then(() => {
      this.nextAnswer = undefined;
    });
  }

  /** Tells the page about the change. */
  #announce(settled: boolean): void {
    const detail: Change = { state: this.settings, settled };
    this.host.dispatchEvent(new CustomEvent('superpose-change', { detail, bubbles: true, composed: true }));
  }

  typeSeed(name: string, input: HTMLInputElement): void {
    const { state, refused } = readState(this.figure?.controls ?? {}, [[name, input.value.trim()]]);
    if (refused.length > 0) {
      this.refusals = [...refused, 'Nothing has changed.'];
      input.value = String(this.settings[name]);
      this.host.requestUpdate();
    } else this.change(name, state[name] as Value, true);
  }

  /** A text is set at once, and computed when the reader pauses. */
  type(name: string, text: string): void {
    this.settings = { ...this.settings, [name]: text };
    this.host.requestUpdate();
    clearTimeout(this.#typingTimer);
    this.#typingTimer = window.setTimeout(() => {
      // A link or Reset may have set another one.
      if (this.settings[name] !== text) return;
      this.#share(name, text);
      this.change(name, text, true);
    }, typingPause);
  }

  /** Shows the recorded text again, here and in the page's other figures. */
  takeBack(name: string): void {
    const { initial } = (this.figure as AnyFigure).controls[name] as Control;
    this.#share(name, initial as string);
    this.change(name, initial, true);
  }

  /** Gives the page the reader's text, or removes that text if `text` is the recorded one. */
  #share(name: string, text: string): void {
    if (!this.#sharedTexts.includes(name)) return;
    if (text === this.figure?.controls[name]?.initial) forgetPageTexts([name]);
    else setPageTexts({ ...pageTexts(), [name]: text });
  }

  /** On their own page all figures share the reader's texts. Elsewhere groups do: see embed/mirror.ts. */
  #hearText = ({ detail }: CustomEvent<ChangedTexts>): void => {
    const changed = this.#sharedTexts.filter((name) => Object.hasOwn(detail, name));
    if (!this.figure || changed.length === 0) return;
    const others = writtenState(this.figure.controls, this.settings).filter(
      ([name]) => !changed.includes(name),
    );
    const { state } = this.#read(others);
    if (changed.every((name) => state[name] === this.settings[name])) return;
    this.#set(state, this.refusals, changed[0]);
    this.#ask();
  };

  async reset(): Promise<void> {
    this.host.speech.changed = true;
    // Otherwise a live job with these settings would go on, or stay paused.
    this.#cancel();
    if (this.showsUserText) forgetPageTexts(this.#sharedTexts);
    await this.show(this.#authorSettings);
    this.#announce(true);
  }

  /** The settings that Reset shows. */
  get #authorSettings(): [string, string][] {
    const { figure, initialSettings } = this;
    if (!hostPage.foreign || !figure || !initialSettings) return this.#stepSettings;
    return writtenState(figure.controls, initialSettings);
  }

  /** Makes Reset go back to a step of the page. */
  followStep(settings: [string, string][]): void {
    this.#stepSettings = settings;
    this.host.requestUpdate();
  }

  /** Whether Reset would change anything: settings, or runs that the reader has begun. */
  get isEdited(): boolean {
    const { figure, settings, liveJob } = this;
    if (!figure) return false;
    const { state } = readState(figure.controls, this.#authorSettings);
    return liveJob?.isWatched || !sameSettings(figure.settle?.(state, undefined) ?? state, settings);
  }
}
