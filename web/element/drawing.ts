// A scene on the page: its maps and dots on a canvas, its other marks as SVG on top, and above both what
// follows the cursor. Grid lines are below dots. Comparing marks costs far less than having the browser style, lay out and paint them
// again.
import { paintCanvas } from '../plot/canvas.js';
import type { Theme } from '../plot/colour.js';
import type { Mark, Scene } from '../plot/scene.js';
import { type Shape, shapesOf } from '../plot/svg.js';

/** What each layer shows. */
const shown = new WeakMap<Element, Shape[]>();

/** Draws what does not depend on the cursor. */
export function drawScene(surface: HTMLElement, scene: Scene, theme: Theme, scale: number): void {
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
  write(
    surface,
    '.marks',
    shapesOf(
      scene.marks.filter((mark) => !under(mark)),
      false,
    ),
  );
}

/** Draws what follows the cursor. */
export const drawCursor = (surface: HTMLElement, marks: readonly Mark[]): void =>
  write(surface, '.frame', shapesOf(marks, true));

function write(surface: HTMLElement, layer: string, shapes: Shape[]): void {
  const svg = surface.querySelector(layer) as Element;
  const before = shown.get(svg) ?? [];
  shown.set(svg, shapes);
  const elements = [...svg.children];
  shapes.forEach((shape, place) => {
    const [element, was] = [elements[place], before[place]];
    if (!element || !was) svg.append(elementOf(shape));
    else if (was.name === shape.name) change(element, was, shape);
    else element.replaceWith(elementOf(shape));
  });
  for (const element of elements.slice(shapes.length)) svg.removeChild(element);
}

/** Touches only what differs: unchanged attributes and text cost the browser nothing. */
function change(element: Element, was: Shape, { attributes, text, runs }: Shape): void {
  const gone = new Map(was.attributes);
  for (const [attribute, value] of attributes) {
    if (gone.get(attribute) !== value) element.setAttribute(attribute, value);
    gone.delete(attribute);
  }
  for (const attribute of gone.keys()) element.removeAttribute(attribute);
  if (text === was.text && !runs === !was.runs) return;
  // A text node that stays is not styled again.
  const [node] = element.childNodes;
  if (text && node instanceof Text && !runs) node.data = text;
  else fill(element, text, runs);
}

const fill = (element: Element, text: string | undefined, runs: Shape[] | undefined): void =>
  element.replaceChildren(...(runs?.map(elementOf) ?? (text ? [text] : [])));

/** Created, not parsed: a page with Trusted Types lets no string be parsed as markup. */
function elementOf({ name, attributes, text, runs }: Shape): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of attributes) element.setAttribute(attribute, value);
  if (text !== undefined) fill(element, text, runs);
  return element;
}
