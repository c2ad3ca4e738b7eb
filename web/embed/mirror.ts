// Attributes that mirror a figure's state, both ways, and groups of figures that share a state.
import type { ReactiveController } from 'lit';
import { attributeOf } from '../element/asking.js';
import { defineFigures, FigureElement } from '../element/figureElement.js';
import { type Control, read, type State, type Value, written, writtenState } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';

const controlsOf = ({ controls }: AnyFigure) => Object.entries(controls as Record<string, Control>);

/** Those that are in a document, or in a shadow of it. */
const connected = new Set<Mirror>();

class Mirror implements ReactiveController {
  /** What the attributes were written of. */
  private mirrored: State | undefined;
  // On the element itself, as one may be in a shadow that nobody can look into.
  private readonly changes = new MutationObserver((changes) => this.hear(changes));

  constructor(private readonly element: FigureElement) {
    element.addController(this);
    this.changes.observe(element, { attributes: true });
    element.addEventListener('superpose-change', () => void this.share());
  }

  hostConnected(): void {
    connected.add(this);
  }

  hostDisconnected(): void {
    connected.delete(this);
  }

  /** Whatever has changed the state, the attributes follow it at once: an old one would be shown again. */
  hostUpdated(): void {
    const { asking, state } = this.element;
    if (asking.figure && state !== asking.own && state !== this.mirrored) this.write(asking.figure, state);
    this.mirrored = state;
  }

  /** What is not as at first, or has an attribute already, is written. */
  private write(figure: AnyFigure, state: State): void {
    this.hear(this.changes.takeRecords());
    for (const [name, control] of controlsOf(figure)) {
      const attribute = attributeOf(name);
      const text = written(control, state[name] as Value);
      if (this.element.getAttribute(attribute) === text) continue;
      if (this.element.hasAttribute(attribute) || text !== written(control, control.initial)) {
        this.element.setAttribute(attribute, text);
      }
    }
    // What is written here asks for nothing, least of all when the state has moved on before it is heard of.
    this.changes.takeRecords();
  }

  /** The page has changed attributes: those, and no others, may ask for another state. */
  private hear(changes: MutationRecord[]): void {
    const { figure } = this.element.asking;
    // Of one whose code is not there yet, nothing has been read of them.
    if (figure?.name !== this.element.name) return;
    const names = new Set(changes.map(({ attributeName }) => attributeName));
    const texts = controlsOf(figure).flatMap(([name, control]): [string, string][] => {
      const attribute = attributeOf(name);
      if (!names.has(attribute)) return [];
      return [[name, this.element.getAttribute(attribute) ?? written(control, control.initial)]];
    });
    this.show(figure, texts);
  }

  /** What figures of the same group have of these settings, and can take. */
  private async share(): Promise<void> {
    const { asking, group, state } = this.element;
    if (!group || !asking.figure) return;
    const texts = new Map(writtenState(asking.figure.controls, state));
    for (const other of connected) {
      if (other === this || other.element.group !== group) continue;
      const figure = await other.element.loaded();
      if (!figure) continue;
      other.show(
        figure,
        controlsOf(figure).flatMap(([name, control]): [string, string][] => {
          const text = texts.get(name);
          return text !== undefined && read(control, text) !== undefined ? [[name, text]] : [];
        }),
      );
    }
  }

  /** Shows these settings with the others as they are, if any of them is new. */
  private show({ controls }: AnyFigure, texts: [string, string][]): void {
    const now = new Map(writtenState(controls, this.element.state));
    if (texts.every(([name, text]) => now.get(name) === text)) return;
    void this.element.show([...now, ...texts]);
  }
}

/** Makes the figures of somebody else's page live. */
export function defineMirrored(): void {
  FigureElement.addInitializer((element) => {
    new Mirror(element as FigureElement);
  });
  defineFigures();
}
