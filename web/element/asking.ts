// A figure's settings and what comes of them: loads the figure's code, asks for its numbers while the reader
// is near, and receives the answers.
import type { ReactiveController } from 'lit';
import {
  type Controls,
  readState,
  type State,
  settingOf,
  type Value,
  writtenState,
} from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { figures } from '../figures/index.js';
import { latest, plainCopy } from '../plot/plainCopy.js';
import { type Asker, type AskOptions, asker } from '../worker/client.js';
import type { Order } from '../worker/transports.js';
import type { Cursors } from './cursor.js';
import type { Answer } from './exports.js';
import { hostPage } from './link.js';
import type { RunHost, Running } from './running.js';

/** On somebody else's page the placeholder has another height, so it is replaced well out of sight. */
const near = () => (hostPage.foreign ? '1200px' : '400px');
const typingPause = 120;
/** Most answers come before a change would be seen; for those a picture is not even styled anew. */
const patience = 400;
/** Those are drawn in the frame that shows what was dragged. */
const atOnce = 50;
const firstView = 'The figure’s first view is shown instead.';
const firstValue = 'Its first value is used instead.';

export interface Change {
  state: State;
  /** The reader has let go of the input: the state is worth an entry in the history. */
  settled: boolean;
}

interface SharedText {
  name: string;
  text: string;
  from: Element;
}

interface Host extends RunHost {
  readonly name: string;
  readonly cursors: Cursors;
}

/** Figures in view that have not been drawn yet, and figures that wait until they are. */
const first = new Set<Asking>();
const later = new Set<Asking>();

function goOn(): void {
  if (first.size > 0) return;
  const waiting = [...later];
  later.clear();
  for (const figure of waiting) void figure.compute();
}

export class Asking implements ReactiveController {
  figure: AnyFigure | undefined;
  settings: State = {};
  /** The settings that the page’s author gave, in attributes or a link: Reset goes back to them. */
  own: State | undefined;
  /** A sentence for each setting that could not be taken. */
  refused: string[] = [];
  /** The newest answer, perhaps to older settings. */
  answer: Answer | undefined;
  failure: string | undefined;
  /** Progress of a long computation, from 0 to 1. */
  fraction: number | undefined;
  /** The reader has stopped the computation. */
  stopped = false;
  /** The settings that are being computed. */
  asked: State | undefined;
  /** The settings whose answer, or frame, came last. */
  #answered: State | undefined;
  /** Other settings are being computed than those of what is shown, and have been for a while. */
  overtaken = false;
  #late = 0;
  /** Until what is dragged has its answer, or that is late: the page is laid out once for both. */
  soon: Promise<void> | undefined;
  #come = (): void => {};
  /** What was shown when the reader began to drag something. */
  began: Answer | undefined;
  /** Only for figures that are shown while they run. */
  running: Running | undefined;

  #name = '';
  #asker: Asker | undefined;
  #isNear = false;
  #isSeen = false;
  #typing = 0;
  /** What `show` was last called with. */
  #wanted: [string, string][] | undefined;
  #views: IntersectionObserver[] = [];

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    const within = (rootMargin: string, heard: (within: boolean) => void) => {
      const view = new IntersectionObserver(
        (entries) => {
          heard(latest(entries).isIntersecting);
          this.#begin();
        },
        { rootMargin },
      );
      view.observe(this.host);
      return view;
    };
    this.#views = [
      within(near(), (isNear) => {
        this.#isNear = isNear;
      }),
      within('0px', (isSeen) => {
        this.#isSeen = isSeen;
        if (isSeen && !this.answer && !this.failure && !this.stopped) first.add(this);
        else this.#letOthers();
      }),
    ];
    document.addEventListener('superpose-text', this.#hearText);
  }

  hostDisconnected(): void {
    for (const view of this.#views) view.disconnect();
    this.#isNear = this.#isSeen = false;
    this.#letOthers();
    document.removeEventListener('superpose-text', this.#hearText);
    // If the element is inserted again, it asks again.
    this.#end();
  }

  hostUpdate(): void {
    if (this.#renamed()) this.#begin();
  }

  /** A new name means another figure; nothing of the old one stays. */
  #renamed(): boolean {
    // A page's script may have set anything.
    const name = String(this.host.name);
    if (this.#name === name) return false;
    this.#end();
    this.#name = name;
    this.running?.end();
    this.figure = this.#asker = this.answer = this.began = this.failure = this.running = undefined;
    this.settings = {};
    this.refused = [];
    this.host.cursors.begin();
    this.stopped = false;
    return true;
  }

  /** Loads the figure's code, without computing anything. */
  async loaded(): Promise<AnyFigure | undefined> {
    this.#renamed();
    if (this.figure) return this.figure;
    const name = this.#name;
    if (!Object.hasOwn(figures, name)) {
      const { unknownName } = await import('../../src/api/unknown.js');
      const sentence = unknownName('figure', name, Object.keys(figures));
      console.warn(`Superpose: ${sentence}`);
      this.fail(sentence);
      return undefined;
    }
    try {
      const figure = ofItself(await (figures[name] as () => Promise<AnyFigure>)());
      const run = figure.runs && (await import('./running.js'));
      // Meanwhile the name may have changed, or another call may have finished first.
      if (this.#renamed() || this.#name !== name) return this.loaded();
      if (this.figure) return this.figure;
      this.figure = figure;
      this.running = run && new run.Running(this.host, figure);
      this.failure = undefined;
      const given = Array.from(this.host.attributes, ({ name, value }): [string, string] => [
        settingOf(name),
        value,
      ]).filter(([setting]) => Object.hasOwn(figure.controls, setting));
      const { state, refused } = readState(figure.controls, given);
      this.#take(
        state,
        refused.map((sentence) => `${sentence} ${firstValue}`),
      );
      this.own = this.settings;
      this.#asker = asker(name, {
        answered: (data, state) => {
          if (this.asked === state) this.#settle();
          this.#answered = state;
          this.running?.ended();
          this.present({ data: plainCopy(data), state: this.#played(state) });
        },
        frame: (data, state) => {
          this.#answered = state;
          if (this.asked === state) this.#overtake(false);
          this.running?.frame({ data: plainCopy(data), state: this.#played(state) });
        },
        failed: (sentence) => {
          this.#settle();
          this.fail(sentence);
        },
        progress: (fraction) => {
          this.fraction = fraction;
          this.host.requestUpdate();
        },
      });
      return figure;
    } catch {
      if (this.#name === name) {
        this.fail('This figure’s code could not be loaded. Reload the page to try again.');
      }
      return undefined;
    }
  }

  /** What the picture that stands in shows, unless it is what is asked for. */
  get otherPicture(): string | undefined {
    const { figure, settings } = this;
    const { standIn } = hostPage;
    if (!figure || !standIn) return undefined;
    const { state } = readState(figure.controls, standIn.settings);
    const texts = (one: State) => String(writtenState(figure.controls, one));
    return texts(figure.settle?.(state, undefined) ?? state) === texts(settings) ? undefined : standIn.called;
  }

  present(answer: Answer): void {
    this.#come();
    this.answer = answer;
    this.failure = undefined;
    this.#letOthers();
    this.host.requestUpdate();
  }

  /** The same state, with the present value of the setting that the data do not depend on. */
  #played(state: State): State {
    const name = this.figure?.plays?.setting as string | undefined;
    return name === undefined || state[name] === this.settings[name]
      ? state
      : { ...state, [name]: this.settings[name] as Value };
  }

  /** Shows the data that are there at another value of the setting that plays, or `between` two of them. */
  play(value: Value, between: Value = value): void {
    const name = this.figure?.plays?.setting as string;
    this.settings = { ...this.settings, [name]: value };
    if (!this.answer) return;
    const of = this.asked ? this.answer.state : this.settings;
    this.present({ data: this.answer.data, state: of[name] === between ? of : { ...of, [name]: between } });
  }

  /** Sends an order to the run under way. */
  order(order: Order): void {
    this.#asker?.order(order);
  }

  /** Starts a new run; with `held` it waits before its first turn. */
  train(held: boolean): void {
    this.#ask({ again: true, held: held || undefined });
  }

  /** Shows a state that comes from outside: a link, or the page. `problem` is a sentence about what was wrong. */
  async show(settings: [string, string][], problem?: string): Promise<void> {
    this.#wanted = settings;
    const figure = await this.loaded();
    // While the code was loaded, another state may have been asked for.
    if (!figure || this.#wanted !== settings) return;
    const { state, refused } = readState(figure.controls, settings);
    // A link with anything impossible in it gives the first view, and says so.
    this.#take(
      refused.length > 0 ? readState(figure.controls, []).state : state,
      instead(problem === undefined ? refused : [problem]),
    );
    this.host.cursors.held = false;
    this.began = undefined;
    this.#ask();
  }

  #take(state: State, refused: string[], changed?: string): void {
    this.settings = this.figure?.settle?.(state, changed) ?? state;
    this.refused = refused;
    this.host.requestUpdate();
  }

  /** On their own page figures in view go first; one that is only near shows its recorded picture and waits. */
  #begin(): void {
    if (this.#isSeen || hostPage.foreign) void this.compute();
    else {
      later.add(this);
      // By then all figures know whether they are in view.
      setTimeout(goOn);
    }
  }

  #letOthers(): void {
    if (!first.delete(this)) return;
    // Once it is painted: nothing that the others fetch delays it.
    void this.host.updateComplete.then(() => requestAnimationFrame(() => setTimeout(goOn)));
  }

  /** Computes what is still missing when the reader comes near. */
  async compute(): Promise<void> {
    if (!this.#isNear || !(await this.loaded()) || this.stopped || this.failure) return;
    if (this.settings !== this.asked && this.settings !== this.answer?.state) this.#ask();
  }

  /** Asks for the numbers; off screen nothing is computed. */
  #ask(options?: AskOptions): void {
    this.stopped = false;
    this.failure = undefined;
    if (this.#isNear && this.#asker) {
      const run = options ?? this.running?.options(this.asked, this.settings);
      this.asked = this.settings;
      if (this.asked !== this.#answered)
        this.#late ||= window.setTimeout(() => this.#overtake(true), patience);
      this.#asker.ask(this.settings, run);
    }
    this.host.requestUpdate();
  }

  again = (): void => {
    this.failure = undefined;
    if (this.figure) this.#ask();
    else this.#begin();
  };

  stop = (): void => {
    this.#end();
    this.stopped = true;
    this.#letOthers();
    this.host.requestUpdate();
  };

  #end(): void {
    this.#asker?.cancel();
    this.#settle();
  }

  #settle(): void {
    this.asked = this.fraction = undefined;
    this.#overtake(false);
  }

  #overtake(overtaken: boolean): void {
    clearTimeout(this.#late);
    this.#late = 0;
    this.overtaken = overtaken;
    if (overtaken) this.host.requestUpdate();
  }

  /** Shows the error and a button to try again. */
  fail(sentence: string): void {
    this.#come();
    this.failure = sentence;
    this.#letOthers();
    this.host.requestUpdate();
  }

  /** The reader has changed a setting. */
  change(name: string, value: Value, settled: boolean): void {
    if (!this.figure) return;
    this.began = settled ? undefined : (this.began ?? this.answer);
    this.host.speech.changed = true;
    if (!settled) {
      this.soon ??= new Promise<void>((come) => {
        this.#come = come;
        setTimeout(come, atOnce);
      }).then(() => {
        this.soon = undefined;
      });
    }
    const there = this.answer?.state === this.settings;
    // Let go of where it is already: nothing is computed again, but axes that stayed may move.
    if (settled && value === this.settings[name] && (there || this.asked === this.settings)) {
      if (there) this.present({ ...(this.answer as Answer) });
    } else {
      this.#take({ ...this.settings, [name]: value }, [], name);
      if (name === this.figure.plays?.setting && this.answer) this.play(value);
      else this.#ask();
    }
    this.#tell(settled);
  }

  /** Tells the page about the change. */
  #tell(settled: boolean): void {
    const detail: Change = { state: this.settings, settled };
    this.host.dispatchEvent(new CustomEvent('superpose-change', { detail, bubbles: true, composed: true }));
  }

  typeSeed(name: string, input: HTMLInputElement): void {
    const { state, refused } = readState(this.figure?.controls ?? {}, [[name, input.value.trim()]]);
    if (refused.length > 0) {
      this.refused = [...refused, 'Nothing has changed.'];
      input.value = String(this.settings[name]);
      this.host.requestUpdate();
    } else this.change(name, state[name] as Value, true);
  }

  /** A text is set at once, and computed when the reader pauses. */
  type(name: string, text: string): void {
    this.settings = { ...this.settings, [name]: text };
    this.host.requestUpdate();
    clearTimeout(this.#typing);
    this.#typing = window.setTimeout(() => {
      // A link or Reset may have set another one.
      if (this.settings[name] !== text) return;
      this.change(name, text, true);
      const detail: SharedText = { name, text, from: this.host };
      document.dispatchEvent(new CustomEvent('superpose-text', { detail }));
    }, typingPause);
  }

  /** On their own page all figures share what is typed. Elsewhere groups do: see embed/mirror.ts. */
  #hearText = (event: Event): void => {
    const { name, text, from } = (event as CustomEvent<SharedText>).detail;
    if (hostPage.foreign || from === this.host || this.figure?.controls[name]?.kind !== 'text') return;
    this.#take({ ...this.settings, [name]: text }, this.refused, name);
    this.#ask();
  };

  async reset(): Promise<void> {
    this.host.speech.changed = true;
    // A run of these settings would go on, or stay held.
    this.#end();
    // The page itself sets its figures as its steps ask for; there Reset shows their first view.
    const given = hostPage.foreign && this.figure && this.own;
    await this.show(given ? writtenState((this.figure as AnyFigure).controls, given) : []);
    this.#tell(true);
  }
}

const instead = (refused: string[]): string[] => (refused.length > 0 ? [...refused, firstView] : []);

/** A figure without what the page may have added to all objects. */
const ofItself = (figure: AnyFigure): AnyFigure =>
  plainCopy({
    ...figure,
    controls: plainCopy(
      Object.fromEntries(
        Object.entries(figure.controls as Controls).map(([name, control]) => [name, plainCopy(control)]),
      ),
    ),
    scene: (...given) => {
      const scene = plainCopy(figure.scene(...given));
      const { marks, regions, handles } = scene;
      return Object.assign(scene, {
        marks: marks.map(plainCopy),
        regions: regions.map(plainCopy),
        handles: handles?.map(plainCopy),
      });
    },
  });
