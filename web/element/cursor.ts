// A figure's cursor: moved by pointers, by keys, and by other figures that show the same tokens.
import type { ReactiveController } from 'lit';
import { type Cursor, cursorAt } from '../plot/scene.js';
import type { FigureElement } from './figureElement.js';
import { linked } from './linked.js';
import type { View } from './picture.js';

export class Cursors implements ReactiveController {
  /** While held, the pointer does not move it. */
  held = false;
  private place: Cursor = { i: 0, j: 0 };
  private unlink: (() => void) | undefined;

  constructor(private readonly host: FigureElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.unlink = linked.listen(() => {
      const pair = this.tokens && linked.pair(this.tokens);
      if (pair && !same(pair, this.place)) this.place = pair;
      this.host.requestUpdate();
    });
  }

  hostDisconnected(): void {
    this.unlink?.();
  }

  get cursor(): Cursor {
    return this.place;
  }

  set cursor(cursor: Cursor) {
    this.place = cursor;
    this.host.requestUpdate();
  }

  /** The cursor stays where it is if rows, columns and the settings that it follows have not changed. */
  fit(view: View, before: View | undefined): void {
    const { figure, data, state, rows, columns } = view;
    const follows = figure.follows?.some((name) => before?.state[name as string] !== state[name as string]);
    if (before?.rows !== rows || before.columns !== columns || follows) {
      this.place = figure.firstCursor?.(data, state) ?? { i: 0, j: 0 };
      this.held = false;
    }
    this.place = within(this.place, rows, columns);
  }

  private get tokens(): string {
    return this.host.picture.view?.tokens?.join('\u0000') ?? '';
  }

  private at({ clientX, clientY, currentTarget }: MouseEvent) {
    const scene = this.host.picture.view?.scene;
    if (!scene) return undefined;
    const box = (currentTarget as Element).getBoundingClientRect();
    const scale = scene.width / box.width;
    return cursorAt(scene, (clientX - box.left) * scale, (clientY - box.top) * scale);
  }

  private move(cursor: Cursor): void {
    if (same(cursor, this.place)) return;
    this.cursor = cursor;
    if (this.tokens) linked.lightPair(this.tokens, cursor);
  }

  point = (event: PointerEvent): void => {
    const found = this.at(event);
    linked.lightTerm(found?.region.term);
    if (found && !this.held) this.move(found.cursor);
  };

  leave = (): void => linked.lightTerm(undefined);

  hold = (event: MouseEvent): void => {
    const found = this.at(event);
    if (!found) return;
    if (this.choose(found.cursor)) return;
    this.held = !(this.held && same(found.cursor, this.place));
    this.move(found.cursor);
    this.host.requestUpdate();
    if (this.held) void this.host.speech.readout();
  };

  /** Some figures choose or open a place instead of holding it; true if this one did. */
  private choose(cursor: Cursor): boolean {
    const figure = this.host.picture.view?.figure;
    if (figure?.opens) {
      this.move(cursor);
      void this.host.updateComplete.then(() =>
        this.host.renderRoot.querySelector<HTMLElement>('.opens a')?.click(),
      );
      return true;
    }
    if (figure?.chooses === undefined) return false;
    this.host.asking.change(figure.chooses as string, cursor.j, true);
    return true;
  }

  step = (event: KeyboardEvent): void => {
    const { view } = this.host.picture;
    if (!view || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape') {
      this.held = false;
      this.host.requestUpdate();
      return;
    }
    if (event.key === 'Enter') this.choose(this.place);
    const next = stepped(this.place, event.key, view.rows, view.columns);
    if (!next) return;
    this.move(next);
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
