// A figure's cursor: moved by pointers, by keys, and by other figures that show the same tokens. What a click
// sets, what is dragged, and what is lit up on the page.
import type { LitElement, ReactiveController } from 'lit';
import { type Control, nearestValue, type State, type Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { type Cursor, cursorAt, type Handle, type Term } from '../plot/scene.js';
import type { View } from './exports.js';
import type { Speech } from './speech.js';

type Listener = () => void;

const listeners = new Set<Listener>();
let term: Term | undefined;
let pair: { tokens: string; cursor: Cursor } | undefined;

const tell = () => {
  for (const listener of listeners) listener();
};

/** A term, wherever its name, formula or marks appear, and a pair of tokens, in every figure that shows the same tokens. */
export const linked = {
  term: () => term,
  /** The pair that is pointed at among these tokens. */
  pair: (tokens: string) => (pair?.tokens === tokens ? pair.cursor : undefined),
  lightTerm(one: Term | undefined): void {
    if (one === term) return;
    term = one;
    tell();
  },
  lightPair(tokens: string, cursor: Cursor): void {
    pair = { tokens, cursor };
    tell();
  },
  /** Returns a function that stops listening. */
  listen(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

interface Host extends LitElement {
  readonly request: {
    readonly figure: AnyFigure | undefined;
    readonly settings: State;
    change(name: string, value: Value, settled: boolean): void;
  };
  readonly picture: { readonly view: View | undefined };
  readonly speech: Speech;
}

export class Cursors implements ReactiveController {
  /** While held, the pointer does not move it. */
  held = false;
  /** Until something points at a place, none is marked and none is read out. */
  pointed = false;
  /** The reader's last press was not a mouse's: grips are shown. */
  byTouch = false;
  /** On somebody else's page: the picture was clicked, and not tabbed to. */
  clicked = false;
  #place: Cursor = { i: 0, j: 0 };
  #unlink: (() => void) | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#unlink = linked.listen(() => {
      const pair = this.#tokens && linked.pair(this.#tokens);
      if (pair && !(this.pointed && same(pair, this.#place))) {
        this.#place = pair;
        this.pointed = true;
      }
      this.host.requestUpdate();
    });
  }

  hostDisconnected(): void {
    this.#unlink?.();
  }

  get cursor(): Cursor {
    return this.#place;
  }

  set cursor(cursor: Cursor) {
    this.#place = cursor;
    this.pointed = true;
    this.host.requestUpdate();
  }

  /** The cursor stays where it is if rows, columns and the settings that it follows have not changed. */
  fit(view: View, before: View | undefined): void {
    const { figure, data, state, rows, columns } = view;
    const follows = figure.follows?.some((name) => before?.state[name as string] !== state[name as string]);
    if (before?.rows !== rows || before.columns !== columns || follows) {
      this.#place = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
      this.held = false;
    }
    this.#place = within(this.#place, rows, columns);
  }

  get #tokens(): string {
    return this.host.picture.view?.tokens?.join('\u0000') ?? '';
  }

  /** A pointer's place in the picture's pixels. */
  #pixel({ clientX, clientY }: MouseEvent, surface: Element): [x: number, y: number] {
    const box = surface.getBoundingClientRect();
    const scale = (this.host.picture.view?.scene.width ?? box.width) / box.width;
    return [(clientX - box.left) * scale, (clientY - box.top) * scale];
  }

  #at(event: MouseEvent, surface = event.currentTarget as Element) {
    const scene = this.host.picture.view?.scene;
    return scene && cursorAt(scene, ...this.#pixel(event, surface));
  }

  #move(cursor: Cursor): void {
    if (this.pointed && same(cursor, this.#place)) return;
    this.cursor = cursor;
    if (this.#tokens) linked.lightPair(this.#tokens, cursor);
  }

  point = (event: PointerEvent, surface = event.currentTarget as Element): void => {
    const found = this.#at(event, surface);
    linked.lightTerm(found?.region.term);
    surface.classList.toggle('sets', found?.region.sets !== undefined);
    if (found?.cursor && !this.held) this.#move(found.cursor);
  };

  /** Who comes by keyboard sees where the keys begin. */
  focused = (): void => {
    if (!this.pointed) this.cursor = this.#place;
  };

  leave = (): void => linked.lightTerm(undefined);

  hold = (event: MouseEvent): void => {
    const found = this.#at(event);
    if (!found) return;
    const { sets } = found.region;
    // A finger has no other way to point at a place, and what it sets has an input.
    if (sets && !(found.cursor && (event as PointerEvent).pointerType === 'touch')) {
      if (found.cursor) this.#move(found.cursor);
      for (const [name, value] of Object.entries(sets)) this.host.request.change(name, value, true);
      return;
    }
    if (found.cursor) this.#press(found.cursor, this.#reads(event));
  };

  /** A tap reads, and so does a click in a presentation. Where it leads to stands beside the picture, or is a key away. */
  #reads = (event: MouseEvent): boolean =>
    (event as PointerEvent).pointerType === 'touch' || this.host.closest('.present') !== null;

  #press(cursor: Cursor, reads = false): void {
    if (this.#choose(cursor, reads)) return;
    this.held = !(this.held && same(cursor, this.#place));
    this.#move(cursor);
    this.host.requestUpdate();
    if (this.held) void this.host.speech.readout();
  }

  /** The element is another figure now. */
  reset(): void {
    this.held = false;
    this.pointed = false;
  }

  /** Some figures choose or open a place instead of holding it; true if this one did. */
  #choose(cursor: Cursor, reads: boolean): boolean {
    const view = this.host.picture.view;
    const figure = view?.figure;
    if (figure?.opens && !reads) {
      this.#move(cursor);
      void this.host.updateComplete.then(() =>
        this.host.renderRoot.querySelector<HTMLElement>('.opens a')?.click(),
      );
      return true;
    }
    const setting = view && figure?.chooses?.(view.state);
    if (setting === undefined) return false;
    this.host.request.change(setting as string, cursor.j, true);
    return true;
  }

  /** Sets what a handle stands for, until the pointer lets go of it. */
  grab = (event: PointerEvent, { x, y, size, setting, at }: Handle): void => {
    this.byTouch = event.pointerType !== 'mouse';
    // A finger that begins on a field may scroll the page; one that taps reads, and then finds a grip.
    if (size && this.byTouch) return;
    const { request } = this.host;
    const knob = event.currentTarget as HTMLElement;
    const surface = knob.parentElement as Element;
    const control = request.figure?.controls[setting] as Control;
    let last = request.settings[setting] as Value;
    const first = last;
    // It need not be grabbed in its middle.
    const [left, top] = this.#pixel(event, surface);
    const drag = (moved: PointerEvent) => {
      const [right, down] = this.#pixel(moved, surface);
      const found = size ? at(left, down) : at(x + right - left, y + down - top);
      const value = typeof found === 'string' ? found : nearestValue(control, found);
      if (value === undefined || value === last) return;
      last = value;
      request.change(setting, value, false);
    };
    const drop = () => {
      window.removeEventListener('keydown', undo, { capture: true });
      knob.removeEventListener('pointermove', drag);
      knob.classList.remove('held');
      if (last !== first) request.change(setting, last, true);
    };
    // Escape ends the drag, and nothing that is around it.
    const undo = (pressed: KeyboardEvent) => {
      if (pressed.key !== 'Escape') return;
      pressed.preventDefault();
      pressed.stopImmediatePropagation();
      last = first;
      request.change(setting, first, true);
      knob.releasePointerCapture(event.pointerId);
    };
    window.addEventListener('keydown', undo, { capture: true });
    event.preventDefault();
    knob.setPointerCapture(event.pointerId);
    knob.classList.add('held');
    knob.addEventListener('pointermove', drag);
    if (size) {
      // A tap sets it, too, and what it has set is read out.
      this.point(event, surface);
      drag(event);
    }
    knob.addEventListener('lostpointercapture', drop, { once: true });
  };

  /** A click on a handle is no click on the picture, but a tap is. */
  tap = (event: Event): void => {
    if (!this.byTouch) event.stopPropagation();
  };

  step = (event: KeyboardEvent): void => {
    const { view } = this.host.picture;
    if (!view || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape') {
      if (!this.held) return;
      this.held = false;
      this.host.requestUpdate();
      // Nothing around it closes.
      event.preventDefault();
      return;
    }
    // Who has clicked on the picture goes on with a clicker.
    if (event.key.startsWith('Page') && this.clicked) return;
    if (event.key === 'Enter' || event.key === ' ') {
      // Else Space scrolls the page.
      event.preventDefault();
      this.#press(this.#place);
      return;
    }
    const next = stepped(this.#place, event.key, view.rows, view.columns);
    if (!next) return;
    this.#move(next);
    void this.host.speech.readout();
    event.preventDefault();
  };
}

const same = (one: Cursor, other: Cursor): boolean => one.i === other.i && one.j === other.j;

const within = ({ i, j }: Cursor, rows: number, columns: number): Cursor => ({
  i: Math.max(0, Math.min(rows - 1, i)),
  j: Math.max(0, Math.min(columns - 1, j)),
});

/** How many rows and columns a key moves it. */
const steps: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

function stepped({ i, j }: Cursor, key: string, rows: number, columns: number): Cursor | undefined {
  const step = steps[key];
  return step && within({ i: i + step[0], j: j + step[1] }, rows, columns);
}
