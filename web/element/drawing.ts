// A scene on the page: its maps and dots on a canvas, its other marks as SVG on top, and above both what follows
// the cursor. To compare marks takes far less than to have the browser style, lay out and paint them again.
import { paintCanvas } from '../plot/canvas.js';
import type { Theme } from '../plot/colour.js';
import type { Mark, Scene } from '../plot/scene.js';
import { markup, type Shape, shapesOf } from '../plot/svg.js';

/** Beyond this share of marks that changed, all of them are made anew. */
const many = 0.5;

const written = new WeakMap<Element, string[]>();

/** Draws what does not depend on the cursor. */
export function drawScene(surface: HTMLElement, scene: Scene, theme: Theme): void {
  const { width, height } = scene;
  // Setting the same height again would lay out the whole page anew.
  if (surface.dataset.size !== `${width} ${height}`) {
    surface.dataset.size = `${width} ${height}`;
    surface.style.setProperty('--height', `${height}px`);
    // On paper the picture is as wide as the sheet, and as high as that makes it.
    surface.style.setProperty('--shape', `${width} / ${height}`);
    for (const svg of surface.querySelectorAll('svg')) svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  }
  paintCanvas(surface.querySelector('canvas') as HTMLCanvasElement, scene, theme);
  write(surface, '.marks', shapesOf(scene.marks, false));
}

/** Draws what does. */
export const drawCursor = (surface: HTMLElement, marks: readonly Mark[]): void =>
  write(surface, '.frame', shapesOf(marks, true));

function write(surface: HTMLElement, layer: string, shapes: Shape[]): void {
  const svg = surface.querySelector(layer) as Element;
  const before = written.get(svg) ?? [];
  const marks = shapes.map(markup);
  const changed = marks.flatMap((mark, place) => (mark === before[place] ? [] : [place]));
  written.set(svg, marks);
  if (marks.length !== before.length || changed.length > many * marks.length) {
    svg.replaceChildren(...shapes.map(elementOf));
    return;
  }
  const elements = [...svg.children];
  for (const place of changed) (elements[place] as Element).replaceWith(elementOf(shapes[place] as Shape));
}

/** Made and not parsed: a page that asks for Trusted Types lets no text be parsed. */
function elementOf({ name, attributes, text }: Shape): Element {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of attributes) element.setAttribute(attribute, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
