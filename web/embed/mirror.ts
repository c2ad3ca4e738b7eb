// Attributes that mirror a figure's state, both ways, and groups of figures that share a state.
import { attributeOf, type Change, type FigureElement } from '../element/figureElement.js';
import { type Control, read, type State, type Value, written, writtenState } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';

const controlsOf = ({ controls }: AnyFigure) => Object.entries(controls as Record<string, Control>);

/** The settings that the attributes name. */
const attributesOf = (element: Element, figure: AnyFigure): [string, string][] =>
  controlsOf(figure).flatMap(([name]): [string, string][] => {
    const text = element.getAttribute(attributeOf(name));
    return text === null ? [] : [[name, text]];
  });

/** What is not as at first, or has an attribute already, is written. */
function writeAttributes(element: Element, figure: AnyFigure, state: State): void {
  for (const [name, control] of controlsOf(figure)) {
    const attribute = attributeOf(name);
    const text = written(control, state[name] as Value);
    if (element.getAttribute(attribute) === text) continue;
    if (element.hasAttribute(attribute) || text !== written(control, control.initial)) {
      element.setAttribute(attribute, text);
    }
  }
}

/** Whether a change of attributes asks for another state than the one that is shown. */
async function hearAttributes(element: FigureElement): Promise<void> {
  const figure = await element.loaded();
  if (!figure) return;
  const now = new Map(writtenState(figure.controls, element.state));
  const changed = attributesOf(element, figure).some(([name, text]) => now.get(name) !== text);
  if (changed) await element.show([...new Map([...now, ...attributesOf(element, figure)])]);
}

/** What another figure has of these settings, where it can take it. */
async function adopt(element: FigureElement, texts: ReadonlyMap<string, string>): Promise<void> {
  const figure = await element.loaded();
  if (!figure) return;
  const now = new Map(writtenState(figure.controls, element.state));
  const taken = controlsOf(figure).flatMap(([name, control]): [string, string][] => {
    const text = texts.get(name);
    const fits = text !== undefined && text !== now.get(name) && read(control, text) !== undefined;
    return fits ? [[name, text]] : [];
  });
  if (taken.length === 0) return;
  await element.show([...new Map([...now, ...taken])]);
  writeAttributes(element, figure, element.state);
}

export function mirrorStates(Element: typeof FigureElement): void {
  const hear = new MutationObserver((changes) => {
    for (const element of new Set(changes.map(({ target }) => target))) {
      if (element instanceof Element) void hearAttributes(element);
    }
  });
  hear.observe(document.documentElement, { subtree: true, attributes: true });

  document.addEventListener('superpose-change', async (event) => {
    const element = event.composedPath()[0];
    if (!(element instanceof Element)) return;
    const figure = await element.loaded();
    if (!figure) return;
    const { state } = (event as CustomEvent<Change>).detail;
    writeAttributes(element, figure, state);
    if (!element.group) return;
    const texts = new Map(writtenState(figure.controls, state));
    for (const other of document.querySelectorAll('superpose-figure')) {
      if (other instanceof Element && other !== element && other.group === element.group) {
        await adopt(other, texts);
      }
    }
  });
}
