// What an answer becomes on screen: picture, sentences and cells, made again when the answer, the width or
// the cursor changes. If drawing fails, the figure says so, and what was there before stays.
// Maps and dots are on a canvas, other marks as SVG on top, and above both what follows the cursor. Grid lines are below
// dots.
import type { LitElement, ReactiveController } from 'lit';
import type { AnyFigure, ReadoutPiece } from '../figures/figure.js';
import { paintCanvas } from '../plot/canvas.js';
import type { Theme } from '../plot/colour.js';
import { plainCopy } from '../plot/plainCopy.js';
import { type Cursor, cursorMarks, type Mark, type Scene } from '../plot/scene.js';
import { type Shape, shapesOf } from '../plot/svg.js';
import type { Cursors } from './cursor.js';
import type { Answer, View } from './exports.js';
import type { FigureRequest } from './figureRequest.js';
import type { Speech } from './speech.js';
import type { Surroundings } from './surroundings.js';

/** What each layer shows. */
const shown = new WeakMap<Element, Shape[]>();

/** Draws what does not depend on the cursor. */
function drawScene(surface: HTMLElement, scene: Scene, theme: Theme, scale: number): void {
  const { width, height } = scene;
  // Setting the same height again would lay out the whole page anew.
  const size = `${width} ${height} ${scale}`;
  if (surface.dataset.size !== size) {
    surface.dataset.size = size;
    surface.style.setProperty('--height', `${height * scale}px`);
    // In print the picture is as wide as the sheet, and its height follows.
    surface.style.setProperty('--shape', `${width} / ${height}`);
    for (const svg of surface.querySelectorAll('svg')) svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  }
  paintCanvas(surface.querySelector('canvas') as HTMLCanvasElement, scene, theme, scale);
  const dotted = scene.marks.some(({ mark }) => mark === 'dots');
  const under = (mark: Mark) => dotted && mark.mark === 'line' && (mark.ink ?? 'line') === 'line';
  write(surface, '.under', shapesOf(scene.marks.filter(under), false));
  const others = scene.marks.filter((mark) => !under(mark));
  write(surface, '.marks', shapesOf(others, false));
}

function write(surface: HTMLElement, layer: string, shapes: Shape[]): void {
  const svg = surface.querySelector(layer) as Element;
  const before = shown.get(svg) ?? [];
  shown.set(svg, shapes);
  const elements = [...svg.children];
  shapes.forEach((shape, place) => {
    const [element, was] = [elements[place], before[place]];
    if (!element || !was) svg.append(elementOf(shape));
    else if (alike(was, shape)) change(element, was, shape);
    else element.replaceWith(elementOf(shape));
  });
  for (const element of elements.slice(shapes.length)) svg.removeChild(element);
}

/** The same element with the same attributes, whatever their values. */
const alike = (one: Shape, other: Shape): boolean =>
  one.name === other.name &&
  one.attributes.length === other.attributes.length &&
  one.attributes.every(([name], place) => name === other.attributes[place]?.[0]);

/** Touches only what differs: unchanged attributes and text cost the browser nothing. */
function change(element: Element, was: Shape, { attributes, text, spans }: Shape): void {
  attributes.forEach(([name, value], place) => {
    if (value !== was.attributes[place]?.[1]) element.setAttribute(name, value);
  });
  if (text === was.text && !spans === !was.spans) return;
  // A text node that stays is not styled again.
  const [node] = element.childNodes;
  if (text && node instanceof Text && !spans) node.data = text;
  else fill(element, text, spans);
}

const fill = (element: Element, text: string | undefined, spans: Shape[] | undefined): void =>
  element.replaceChildren(...(spans?.map(elementOf) ?? (text ? [text] : [])));

/** Created, not parsed: a page with Trusted Types lets no string be parsed as markup. */
function elementOf({ name, attributes, text, spans }: Shape): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of attributes) element.setAttribute(attribute, value);
  if (text !== undefined) fill(element, text, spans);
  return element;
}

interface Host extends LitElement {
  readonly request: FigureRequest;
  readonly cursors: Cursors;
  readonly surroundings: Surroundings;
  readonly speech: Speech;
  readonly busy: boolean;
}

const viewOf = (
  figure: AnyFigure,
  { data, state }: Answer,
  width: number,
  began: Answer | undefined,
  cursor: Cursor | undefined,
): View => ({
  figure,
  data,
  state,
  ...figure.cells(data, state),
  source: figure.source(state),
  finding: figure.describe(data, state),
  tokens: figure.tokens?.(data, state),
  remark: figure.remark?.(data, state),
  named: plainCopy(figure.named?.(data, state) ?? {}),
  scene: figure.scene(data, state, width, began, cursor),
});

const changed = (now: unknown[], before: unknown[]): boolean => now.some((one, k) => one !== before[k]);

export class Picture implements ReactiveController {
  view: View | undefined;
  /** Why the newest answer could not be drawn, for the reader. */
  failure: string | undefined;
  /** About the place of the cursor. */
  readout: ReadoutPiece[] = [];
  #atCursor: Mark[] = [];

  /** The answer, width and cursor last drawn, or last tried. */
  #drawn: [Answer?, number?, Cursor?, boolean?] = [];
  /** What is on screen: scene, theme, surface, scale and the marks at the cursor. */
  #painted: unknown[] = [];
  /** The answer whose finding was handed to speech last. */
  #spokenAnswer: Answer | undefined;

  constructor(private readonly host: Host) {
    host.addController(this);
  }

  hostUpdate(): void {
    const { request, cursors, surroundings } = this.host;
    const { figure, answer, liveJob } = request;
    const { width } = surroundings;
    if (this.view?.figure !== figure) {
      this.view = undefined;
      this.failure = undefined;
    }
    if (!figure || !answer || width === 0) return;
    const drawn = this.#drawn;
    if (!changed([answer, width, cursors.cursor, cursors.pointed], drawn)) return;
    // Recorded first: drawing that throws would only throw again.
    this.#drawn = [answer, width, cursors.cursor, cursors.pointed];
    try {
      let { view } = this;
      const at = () => (figure.redraws && cursors.pointed ? cursors.cursor : undefined);
      if (!view || answer !== drawn[0] || width !== drawn[1]) {
        this.failure = undefined;
        view =
          this.view && liveJob?.playback?.isPlaying
            ? // What is said waits for the end: text that came and went would move all that is below it.
              { ...this.view, ...answer, scene: figure.scene(answer.data, answer.state, width) }
            : viewOf(figure, answer, width, request.beforeDrag, at());
        cursors.fit(view, this.view);
        this.#drawn[2] = cursors.cursor;
      } else if (figure.redraws) {
        view = { ...view, scene: figure.scene(view.data, view.state, width, request.beforeDrag, at()) };
      }
      const { data, state, scene } = view;
      const readout = cursors.pointed ? figure.readout(data, state, cursors.cursor) : [];
      const focus = cursors.pointed ? (figure.focus?.(data, state, cursors.cursor, width) ?? []) : [];
      this.#atCursor = cursors.pointed
        ? [...cursorMarks(scene, cursors.cursor), ...focus].map(plainCopy)
        : [];
      this.readout = readout;
      this.view = view;
    } catch (error) {
      this.#failed(error);
    }
  }

  hostUpdated(): void {
    const { view } = this;
    const surface = this.host.renderRoot.querySelector<HTMLElement>('.surface');
    if (!view || !surface) return;
    const { theme, scale } = this.host.surroundings;
    const [scene, , , , marks] = this.#painted;
    const now = [view.scene, theme, surface, scale, this.#atCursor];
    const anew = changed(now.slice(0, 4), this.#painted);
    this.#painted = now;
    try {
      if (anew) drawScene(surface, view.scene, theme, scale);
      if (anew || marks !== this.#atCursor) write(surface, '.frame', shapesOf(this.#atCursor, true));
    } catch (error) {
      this.#failed(error);
    }
    if (scene === view.scene || this.#spokenAnswer === this.host.request.answer) return;
    this.#spokenAnswer = this.host.request.answer;
    // A live job is read out at its end, and where it is paused.
    const isPaused = this.host.request.liveJob?.paused;
    if (!this.host.busy || isPaused) this.host.speech.finding(isPaused);
    this.host.dispatchEvent(new CustomEvent('superpose-drawn', { bubbles: true, composed: true }));
  }

  #failed(error: unknown): void {
    this.failure = `This figure could not be drawn with these settings; others may work (${(error as Error).message}).`;
    this.host.requestUpdate();
  }
}
