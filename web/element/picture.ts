// Draws an answer: picture, sentences and cells, again when the answer, the width or the cursor changes. If
// drawing fails, the figure says so, and the previous picture stays. Maps and dots are on a canvas, other
// marks are SVG above it, and the marks at the cursor above both. Grid lines are below dots.
import type { LitElement, ReactiveController } from 'lit';
import type { State } from '../figures/controls.js';
import type { AnyFigure, ReadoutPiece } from '../figures/figure.js';
import { paintCanvas } from '../plot/canvas.js';
import type { Theme } from '../plot/colour.js';
import { plainCopy } from '../plot/plainCopy.js';
import { type Cursor, cursorMarks, type Mark, type Scene } from '../plot/scene.js';
import { type Shape, shapesOf } from '../plot/shapes.js';
import type { Cursors } from './cursor.js';
import type { Answer, View } from './exports.js';
import type { FigureRequest } from './figureRequest.js';
import { invite } from './motion.js';
import type { Speech } from './speech.js';
import type { Surroundings } from './surroundings.js';

/** The shapes that each layer shows. */
const shown = new WeakMap<Element, Shape[]>();

/** Draws the marks that do not depend on the cursor. */
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

/**
 * Shows these shapes on a layer. Where an axis has another number of ticks, a run of shapes of one kind
 * becomes longer or shorter; all other shapes keep their elements.
 */
function write(surface: HTMLElement, layer: string, shapes: Shape[]): void {
  const svg = surface.querySelector(layer) as Element;
  const before = shown.get(svg) ?? [];
  shown.set(svg, shapes);
  const elements = [...svg.children];
  const kinds = before.map(kindOf);
  let place = 0;
  let run = '';
  for (const shape of shapes) {
    const kind = kindOf(shape);
    // The run that has just ended was longer before.
    while (kind !== run && kinds[place] === run) {
      svg.removeChild(elements[place] as Element);
      place += 1;
    }
    const element = elements[place];
    if (element && kinds[place] === kind) change(element, before[place++] as Shape, shape);
    else if (element && kind !== run) elements[place++]?.replaceWith(elementOf(shape));
    else svg.insertBefore(elementOf(shape), element ?? null);
    run = kind;
  }
  for (const element of elements.slice(place)) svg.removeChild(element);
}

/** Shapes of one kind have the same element name and attribute names, whatever the attributes' values. */
const kindOf = ({ name, attributes }: Shape): string =>
  [name, ...attributes.map(([attribute]) => attribute)].join(' ');

/** Touches only what differs: unchanged attributes and text cost the browser nothing. */
function change(element: Element, previous: Shape, { attributes, text, spans }: Shape): void {
  attributes.forEach(([name, value], place) => {
    if (value !== previous.attributes[place]?.[1]) element.setAttribute(name, value);
  });
  if (text === previous.text && !spans === !previous.spans) return;
  // A text node that stays spares the browser from restyling.
  const [node] = element.childNodes;
  if (text && node instanceof Text && !spans) node.data = text;
  else fill(element, text, spans);
}

const fill = (element: Element, text: string | undefined, spans: Shape[] | undefined): void =>
  element.replaceChildren(...(spans?.map(elementOf) ?? (text ? [text] : [])));

/** The element is created, not parsed, because a page with Trusted Types parses no string as markup. */
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

const changed = (now: unknown[], before: unknown[]): boolean => now.some((value, k) => value !== before[k]);

export class Picture implements ReactiveController {
  view: View | undefined;
  /** Why the newest answer could not be drawn, for the reader. */
  failure: string | undefined;
  /** The numbers at the cursor. */
  readout: ReadoutPiece[] = [];
  #atCursor: Mark[] = [];

  /** The answer, the width, the cursor and whether it is pointed at, as last drawn or tried. */
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
    if (!changed([answer, width, cursors.cursor, cursors.isPointed], drawn)) return;
    // Recorded before drawing, because drawing that throws would only throw again.
    this.#drawn = [answer, width, cursors.cursor, cursors.isPointed];
    try {
      let { view } = this;
      if (!view || answer !== drawn[0] || width !== drawn[1]) {
        this.failure = undefined;
        view =
          this.view && liveJob?.playback?.isPlaying
            ? // Its sentences wait for the end: text that came and went would move everything below it.
              { ...this.view, ...answer, scene: figure.scene(answer.data, answer.state, width) }
            : viewOf(figure, answer, width, request.beforeDrag, this.#cursor(figure));
        cursors.fit(view, this.view);
        this.#drawn[2] = cursors.cursor;
      } else if (figure.redraws) {
        view = { ...view, scene: this.#scene(view, view.state) };
      }
      const { data, state, scene } = view;
      const readout = cursors.isPointed ? figure.readout(data, state, cursors.cursor) : [];
      const focus = cursors.isPointed
        ? (figure.focus?.(data, state, cursors.cursor, width, request.beforeDrag) ?? [])
        : [];
      this.#atCursor = cursors.isPointed
        ? [...cursorMarks(scene, cursors.cursor), ...focus].map(plainCopy)
        : [];
      this.readout = readout;
      this.view = view;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Draws the same data in other settings; undefined: in their own again. */
  preview(settings: State | undefined): void {
    const { view } = this;
    if (!view) return;
    this.view = { ...view, scene: this.#scene(view, { ...view.state, ...settings }) };
    this.host.requestUpdate();
  }

  #cursor(figure: AnyFigure): Cursor | undefined {
    const { isPointed, cursor } = this.host.cursors;
    return figure.redraws && isPointed ? cursor : undefined;
  }

  #scene({ figure, data }: View, state: State): Scene {
    const { request, surroundings } = this.host;
    return figure.scene(data, state, surroundings.width, request.beforeDrag, this.#cursor(figure));
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
    if (view.figure.invites) invite(this.host, this, view.figure.invites);
  }

  #failed(error: unknown): void {
    this.failure = `This figure could not be drawn with these settings; others may work (${(error as Error).message}).`;
    this.host.requestUpdate();
  }
}
