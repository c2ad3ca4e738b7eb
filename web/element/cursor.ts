// A figure's cursor, which pointers, keys and other figures with the same tokens move; what clicks and drags
// set in a figure; and the terms that light up on the page.
import type { LitElement, ReactiveController } from 'lit';
import { type Control, nearestValue, type State, type Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { type Cursor, cursorAt, type Handle, type Term } from '../plot/scene.js';
import type { View } from './exports.js';
import { glide } from './motion.js';
import type { Speech } from './speech.js';

type Listener = () => void;

const listeners = new Set<Listener>();
let term: Term | undefined;
let pair: { tokens: string; cursor: Cursor } | undefined;

const notify = () => {
  for (const listener of listeners) listener();
};

/**
 * A term lights up wherever its name, formula or marks appear, and a pair of tokens in every figure that
 * shows them.
 */
export const linked = {
  term: () => term,
  /** The pair that is pointed at among these tokens. */
  pair: (tokens: string) => (pair?.tokens === tokens ? pair.cursor : undefined),
  lightTerm(next: Term | undefined): void {
    if (next === term) return;
    term = next;
    notify();
  },
  lightPair(tokens: string, cursor: Cursor): void {
    pair = { tokens, cursor };
    notify();
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
  /** While the cursor is held, the pointer does not move it. */
  isPinned = false;
  /** Whether anything has pointed at a place yet. Until then no place is marked or read out. */
  isPointed = false;
  /** Whether a step of the page, not the reader, has marked the place. */
  isMarkedByStep = false;
  /** On somebody else's page: whether the reader came to the picture by a click, not by Tab. */
  wasClicked = false;
  /** Whether the last press dragged a handle or was a mouse's on a knob, neither of which is a click. */
  #hasDragged = false;
  #place: Cursor = { i: 0, j: 0 };
  #unlink: (() => void) | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#unlink = linked.listen(() => {
      const pair = this.#tokens && linked.pair(this.#tokens);
      if (pair && !(this.isPointed && same(pair, this.#place))) {
        this.#place = pair;
        this.isPointed = true;
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
    this.isPointed = true;
    this.isMarkedByStep = false;
    this.host.requestUpdate();
  }

  /** The cursor stays where it is if rows, columns and the settings that it follows have not changed. */
  fit(view: View, before: View | undefined): void {
    const { figure, data, state, rows, columns } = view;
    const follows = figure.follows?.some((name) => before?.state[name as string] !== state[name as string]);
    if (before?.rows !== rows || before.columns !== columns || follows) {
      this.#place = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
      this.isPinned = false;
    }
    this.#place = within(this.#place, rows, columns);
  }

  get #tokens(): string {
    return this.host.picture.view?.tokens?.join('\u0000') ?? '';
  }

  /** A pointer's position in the picture's pixels. */
  #pixel({ clientX, clientY }: MouseEvent, surface: Element): [x: number, y: number] {
    const box = surface.getBoundingClientRect();
    const scale = (this.host.picture.view?.scene.width ?? box.width) / box.width;
    return [(clientX - box.left) * scale, (clientY - box.top) * scale];
  }

  #at(event: MouseEvent) {
    const scene = this.host.picture.view?.scene;
    return scene && cursorAt(scene, ...this.#pixel(event, event.currentTarget as Element));
  }

  #move(cursor: Cursor): void {
    if (this.isPointed && same(cursor, this.#place)) return;
    this.cursor = cursor;
    if (this.#tokens) linked.lightPair(this.#tokens, cursor);
  }

  point = (event: PointerEvent): void => {
    const surface = event.currentTarget as Element;
    const target = this.#at(event);
    linked.lightTerm(target?.region.term);
    surface.classList.toggle('sets', target?.region.sets !== undefined);
    if (target?.cursor && !this.isPinned) this.#move(target.cursor);
  };

  /** A reader who comes by keyboard sees where the keys begin. */
  focused = (): void => {
    if (!this.isPointed) this.cursor = this.#place;
  };

  leave = (): void => linked.lightTerm(undefined);

  hold = (event: MouseEvent): void => {
    const target = this.#at(event);
    if (!target) return;
    const { sets } = target.region;
    // A finger has no other way to point at a place, and the setting also has an input.
    if (sets && !(target.cursor && (event as PointerEvent).pointerType === 'touch')) {
      if (target.cursor) this.#move(target.cursor);
      for (const [name, value] of Object.entries(sets)) this.host.request.change(name, value, true);
      return;
    }
    if (target.cursor) this.#press(target.cursor, this.#reads(event));
  };

  /**
   * A tap, and a click in a presentation, only reads: a link beside the picture, or a key, opens what is
   * there.
   */
  #reads = (event: MouseEvent): boolean =>
    (event as PointerEvent).pointerType === 'touch' || this.host.closest('.present') !== null;

  #press(cursor: Cursor, reads = false): void {
    if (this.#choose(cursor, reads)) return;
    this.isPinned = !(this.isPinned && same(cursor, this.#place));
    this.#move(cursor);
    this.host.requestUpdate();
    if (this.isPinned) void this.host.speech.readout();
  }

  /** Nothing is marked any more: the element is another figure, or has left the step that marked a place. */
  reset(): void {
    this.isPinned = false;
    this.isPointed = false;
    this.isMarkedByStep = false;
  }

  /** Some figures choose or open a place instead of holding the cursor. Returns whether this one does. */
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

  /** Drags a handle: sets its setting until the pointer lets go of it. */
  grab = (event: PointerEvent, { x, y, size, setting, at, snap }: Handle): void => {
    const { request } = this.host;
    const knob = event.currentTarget as HTMLElement;
    const surface = knob.parentElement as Element;
    const control = request.figure?.controls[setting] as Control;
    let last = request.settings[setting] as Value;
    const first = last;
    let hasMoved = false;
    // The pointer may have gripped the handle away from its middle.
    const [left, top] = this.#pixel(event, surface);
    const drag = (moved: PointerEvent) => {
      // A drag does not move the cursor.
      moved.stopPropagation();
      const [right, down] = this.#pixel(moved, surface);
      const exact = at(x + right - left, y + down - top);
      const near = typeof exact === 'string' ? exact : nearestValue(control, exact);
      const snaps = snap !== undefined && typeof near === 'number' && near >= snap[0];
      const value = snaps ? snap[1] : near;
      if (value === undefined || value === last) return;
      last = value;
      hasMoved = true;
      if (snaps) glide(request, setting, snap[1], false);
      else request.change(setting, value, false);
    };
    const undo = () => {
      if (last === first) return;
      last = first;
      request.change(setting, first, true);
    };
    const drop = () => {
      window.removeEventListener('keydown', giveUp, { capture: true });
      knob.removeEventListener('pointermove', drag);
      knob.removeEventListener('pointercancel', undo);
      knob.classList.remove('held');
      this.#hasDragged = hasMoved || (!size && event.pointerType === 'mouse');
      if (last !== first) request.change(setting, last, true);
    };
    // Escape ends the drag, and closes nothing around the figure.
    const giveUp = (pressed: KeyboardEvent) => {
      if (pressed.key !== 'Escape') return;
      pressed.preventDefault();
      pressed.stopImmediatePropagation();
      undo();
      knob.releasePointerCapture(event.pointerId);
    };
    window.addEventListener('keydown', giveUp, { capture: true });
    event.preventDefault();
    knob.setPointerCapture(event.pointerId);
    knob.classList.add('held');
    knob.addEventListener('pointermove', drag);
    // The browser cancels the drag if the finger scrolls the page after all.
    knob.addEventListener('pointercancel', undo);
    knob.addEventListener('lostpointercapture', drop, { once: true });
  };

  /** A click that ends a drag is not a click on the picture. */
  tap = (event: Event): void => {
    if (this.#hasDragged) event.stopPropagation();
  };

  step = (event: KeyboardEvent): void => {
    const { view } = this.host.picture;
    if (!view || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape') {
      if (!this.isPinned) return;
      this.isPinned = false;
      this.host.requestUpdate();
      // Escape releases the cursor, and closes nothing around the figure.
      event.preventDefault();
      return;
    }
    // A reader who has clicked on the picture may go on with a presenter's clicker, which sends Page keys.
    if (event.key.startsWith('Page') && this.wasClicked) return;
    if (event.key === 'Enter' || event.key === ' ') {
      // Otherwise Space would scroll the page.
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

const same = (left: Cursor, right: Cursor): boolean => left.i === right.i && left.j === right.j;

const within = ({ i, j }: Cursor, rows: number, columns: number): Cursor => ({
  i: Math.max(0, Math.min(rows - 1, i)),
  j: Math.max(0, Math.min(columns - 1, j)),
});

/** How many rows and columns each key moves the cursor. */
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
