// Figures on somebody else's page: attributes that mirror a figure's state in both directions, groups of
// figures that share settings, the surrounding page's theme, and methods for the page's scripts.
import { html, type ReactiveController, type TemplateResult } from 'lit';
import { defineFigures, FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { hostPage, writeLink } from '../element/link.js';
import { elementStyles } from '../element/surroundings.js';
import {
  attributeOf,
  type Control,
  read,
  readState,
  type State,
  settingOf,
  type Value,
  written,
  writtenState,
} from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { isFirstView } from '../figures/firstView.js';
import { warnOfUnknown, warnOnce } from './attributes.js';
import { replacedBuiltins } from './builtins.js';
import { stopKeys } from './keys.js';
import { usePageStyles } from './pageStyles.js';
import { pageTheme, watchPageTheme } from './pageTheme.js';

const controlsOf = ({ controls }: AnyFigure) => Object.entries(controls as Record<string, Control>);

/** Figures that are in a document or in one of its shadow trees. */
const connected = new Set<Mirror>();

class Mirror implements ReactiveController {
  /** The state that the attributes show. */
  private mirrored: State | undefined;
  /** The state last shared with the group, in either direction. */
  private shared: State | undefined;
  /** The figure whose attributes have been checked. */
  private checkedFigure: AnyFigure | undefined;
  private unwatch: (() => void) | undefined;
  /** Settles when the last of the queued changes is made. */
  private lastChange = Promise.resolve();
  // Observes the element itself, because an observer of the page would miss one in a closed shadow.
  private readonly changes = new MutationObserver((changes) => this.hear(changes));

  constructor(private readonly element: FigureElement) {
    element.addController(this);
    stopKeys(element);
    this.changes.observe(element, { attributes: true });
    element.addEventListener('superpose-change', (event) => {
      void this.share();
      const { detail } = event as CustomEvent<Change>;
      element.dispatchEvent(new CustomEvent('change', { detail, bubbles: true }));
    });
  }

  hostConnected(): void {
    connected.add(this);
    this.unwatch = watchPageTheme(this.look);
    this.look();
  }

  hostDisconnected(): void {
    connected.delete(this);
    this.unwatch?.();
  }

  private look = (): void => {
    const { surroundings } = this.element;
    const before = surroundings.pageTheme;
    surroundings.pageTheme = pageTheme(this.element);
    if (surroundings.pageTheme !== before) this.element.requestUpdate();
    // The placeholder has both themes, and would follow the reader's preference.
    for (const image of this.element.querySelectorAll('img')) image.style.colorScheme = surroundings.theme;
  };

  /** Attributes follow the state at once, whatever changed it, or they would bring the old state back. */
  hostUpdated(): void {
    const { request, state } = this.element;
    if (request.figure && state !== request.initialSettings && state !== this.mirrored)
      this.write(request.figure, state);
    this.mirrored = state;
    if (request.figure && request.figure !== this.checkedFigure) {
      warnOfUnknown(this.element, request.figure);
      for (const sentence of request.refusals) warnOnce(request.figure.name, sentence);
    }
    this.checkedFigure = request.figure;
  }

  /** Writes the settings that differ from their first value or already have an attribute. */
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
    // The element's own writes are not requests of the page, and would undo later changes if they were taken
    // for such.
    this.changes.takeRecords();
  }

  /** Handles attributes that the page has changed. Only those that changed ask for another state. */
  private hear(changes: MutationRecord[]): void {
    const { figure } = this.element.request;
    // Until the figure's code is loaded no attribute has been read; loading it reads all of them.
    if (figure?.name !== this.element.name) return;
    warnOfUnknown(this.element, figure);
    const attributes = new Set(changes.map(({ attributeName }) => attributeName as string));
    const controls = new Map(controlsOf(figure));
    const texts = [...attributes].flatMap((attribute): [string, string][] => {
      const name = settingOf(attribute);
      const control = controls.get(name);
      if (!control) return [];
      return [[name, this.element.getAttribute(attribute) ?? written(control, control.initial)]];
    });
    const { request, state } = this.element;
    if (state === request.initialSettings) this.mirrored = state;
    const possible = texts.filter(([name, text]) => read(controls.get(name) as Control, text) !== undefined);
    request.initialSettings = readState(figure.controls, [
      ...writtenState(figure.controls, request.initialSettings as State),
      ...possible,
    ]).state;
    this.show(figure, texts);
  }

  /** Sets what has changed here in the group's other figures that have the setting and can take the value. */
  async share(): Promise<void> {
    const { request, group, state } = this.element;
    if (!request.figure) return;
    const { controls } = request.figure;
    const before = new Map(writtenState(controls, this.shared ?? request.initialSettings ?? state));
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

  /** Queues simultaneous changes, so that each starts from the state that the previous one left. */
  private inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.lastChange.then(change);
    this.lastChange = changed.catch(() => {});
    return changed;
  }

  /** Shows these settings and keeps the others. Computes nothing if none of them is new. */
  show(figure: AnyFigure, texts: [string, string][]): void {
    void this.inTurn(async () => {
      // The element may have become another figure.
      if (this.element.request.figure !== figure) return;
      const now = new Map(writtenState(figure.controls, this.element.state));
      if (texts.every(([name, text]) => now.get(name) === text)) {
        // Reset may go back to this state now.
        this.element.requestUpdate();
        return;
      }
      await this.element.show([...now, ...texts]);
      this.shared = this.element.state;
    });
  }

  /** For the page's scripts: sets these settings, in this figure alone. */
  set(settings: Readonly<Record<string, Value>>): Promise<void> {
    return this.inTurn(() => this.setNow(settings));
  }

  private async setNow(settings: Readonly<Record<string, Value>>): Promise<void> {
    const figure = await this.element.loaded();
    if (!figure) throw new TypeError(`There is no figure called “${this.element.name}”.`);
    const controls: Record<string, Control> = figure.controls;
    if (typeof settings !== 'object' || settings === null)
      throw new TypeError('set() takes an object of settings. Nothing has changed.');
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

/** Methods that a figure has only on somebody else's page; those for the page's scripts are in index.d.ts. */
const methods = {
  /** A link to the figure with the site's picture, which exists only for the first view. */
  standIn(this: FigureElement): TemplateResult | undefined {
    const { figure, settings } = this.request;
    const { home, pictures } = hostPage;
    if (!home || !pictures || !figure || this.childElementCount > 0) return undefined;
    if (!isFirstView(figure.controls, settings)) return undefined;
    const link = home + writeLink(figure.name, figure.controls, settings);
    return html`<a href=${link}><img src=${`${pictures}${figure.name}-narrow.svg`} alt=${figure.title} loading="lazy" /></a>`;
  },

  /** Style sheets belong to the document that made them, so another document needs new ones. */
  adoptedCallback(this: FigureElement): void {
    const { defaultView: page } = this.ownerDocument;
    if (!page || !this.shadowRoot) return;
    this.shadowRoot.adoptedStyleSheets = elementStyles.map(({ cssText }) => {
      const sheet = new page.CSSStyleSheet();
      sheet.replaceSync(cssText);
      return sheet;
    });
  },
  set(this: FigureElement, settings: Readonly<Record<string, Value>>): Promise<void> {
    return (mirrors.get(this) as Mirror).set(settings);
  },
  whenLive(this: FigureElement): Promise<void> {
    return new Promise((resolve) => {
      if (this.result) resolve();
      else this.addEventListener('superpose-drawn', () => resolve(), { once: true });
    });
  },
};

/** Makes the figures of somebody else's page live, unless the page has replaced functions that they need. */
export function defineMirrored(): void {
  const replaced = replacedBuiltins();
  if (replaced.length > 0) {
    console.warn(
      `Superpose cannot draw on this page, and the pictures stay: a script of the page has replaced ${replaced.join(', ')}. In a frame, figures work here.`,
    );
    return;
  }
  hostPage.foreign = true;
  hostPage.standIn = undefined;
  FigureElement.addInitializer((element) => {
    mirrors.set(element as FigureElement, new Mirror(element as FigureElement));
  });
  Object.assign(FigureElement.prototype, methods);
  usePageStyles();
  defineFigures();
}
