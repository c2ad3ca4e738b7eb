// Figures on somebody else's page: attributes that mirror a figure's state, both ways, groups of figures that share
// settings, the theme of the page around, and what the page's own scripts can call.
import type { ReactiveController } from 'lit';
import type { Change } from '../element/asking.js';
import { attributeOf } from '../element/attribute.js';
import { defineFigures, FigureElement } from '../element/figureElement.js';
import {
  type Control,
  read,
  readState,
  type State,
  type Value,
  written,
  writtenState,
} from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { themeAround, watchAround } from './around.js';

const controlsOf = ({ controls }: AnyFigure) => Object.entries(controls as Record<string, Control>);

/** Those that are in a document, or in a shadow of it. */
const connected = new Set<Mirror>();

class Mirror implements ReactiveController {
  /** What the attributes were written of. */
  private mirrored: State | undefined;
  /** What the group has heard of, or this figure from it. */
  private shared: State | undefined;
  private unwatch: (() => void) | undefined;
  // On the element itself, as one may be in a shadow that nobody can look into.
  private readonly changes = new MutationObserver((changes) => this.hear(changes));

  constructor(private readonly element: FigureElement) {
    element.addController(this);
    this.changes.observe(element, { attributes: true });
    element.addEventListener('superpose-change', (event) => {
      void this.share();
      const { detail } = event as CustomEvent<Change>;
      element.dispatchEvent(new CustomEvent('change', { detail, bubbles: true }));
    });
  }

  hostConnected(): void {
    connected.add(this);
    this.unwatch = watchAround(this.look);
    this.look();
  }

  hostDisconnected(): void {
    connected.delete(this);
    this.unwatch?.();
  }

  private look = (): void => {
    const { surroundings } = this.element;
    const before = surroundings.around;
    surroundings.around = themeAround(this.element);
    if (surroundings.around !== before) this.element.requestUpdate();
    // The picture that stands in has both themes, and would ask the reader.
    for (const one of this.element.querySelectorAll('img')) one.style.colorScheme = surroundings.theme;
  };

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

  /** What has changed is set in the figures of the same group that have it and can take it. */
  async share(): Promise<void> {
    const { asking, group, state } = this.element;
    if (!asking.figure) return;
    const { controls } = asking.figure;
    const before = new Map(writtenState(controls, this.shared ?? asking.own ?? state));
    const texts = new Map(writtenState(controls, state).filter(([name, text]) => before.get(name) !== text));
    this.shared = state;
    for (const other of group ? connected : []) {
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
  show({ controls }: AnyFigure, texts: [string, string][]): void {
    const now = new Map(writtenState(controls, this.element.state));
    if (texts.every(([name, text]) => now.get(name) === text)) return;
    void this.element.show([...now, ...texts]).then(() => {
      this.shared = this.element.state;
    });
  }

  /** For the page's own script: sets what it names, in this figure alone. */
  async set(settings: Readonly<Record<string, Value>>): Promise<void> {
    const figure = await this.element.loaded();
    if (!figure) throw new TypeError(`There is no figure called “${this.element.name}”.`);
    const controls: Record<string, Control> = figure.controls;
    const texts = Object.entries(settings).map(([name, value]): [string, string] => [
      name,
      controls[name] && typeof value === typeof controls[name].initial
        ? written(controls[name], value)
        : String(value),
    ]);
    const { refused } = readState(controls, texts);
    if (refused.length > 0) throw new TypeError(`${refused.join(' ')} Nothing has changed.`);
    const now = writtenState(controls, this.element.state);
    await this.element.show([...now, ...texts]);
    this.shared = this.element.state;
  }
}

const mirrors = new WeakMap<FigureElement, Mirror>();

/** What a page's own script finds at a figure; index.d.ts says it. */
const calls = {
  set(this: FigureElement, settings: Readonly<Record<string, Value>>): Promise<void> {
    return (mirrors.get(this) as Mirror).set(settings);
  },
  whenLive(this: FigureElement): Promise<void> {
    return new Promise((done) => {
      if (this.result) done();
      else this.addEventListener('superpose-drawn', () => done(), { once: true });
    });
  },
};

/** Makes the figures of somebody else's page live. */
export function defineMirrored(): void {
  FigureElement.addInitializer((element) => {
    mirrors.set(element as FigureElement, new Mirror(element as FigureElement));
  });
  Object.assign(FigureElement.prototype, calls);
  defineFigures();
}
