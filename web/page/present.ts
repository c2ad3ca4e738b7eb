// Present mode shows one figure, step, bet or claim of the page on each screen, as large as the window
// allows. Its code is loaded when somebody presents.
import { html, nothing, render, type TemplateResult } from 'lit';
import { writeAddress } from '../element/addressBar.js';
import type { FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { decodedLink, readLink, writeLink } from '../element/link.js';
import { pageTexts } from '../element/pageTexts.js';
import { untranslate } from '../element/translated.js';
import type { Control } from '../figures/controls.js';
import { figures } from '../figures/index.js';
import { home } from './elsewhere.js';
import styles from './present.css?inline';
import { qrCode } from './qrCode.js';
import { largeCode, listOf, type Memory, openYours, questionOf } from './slideParts.js';
import { type Answer, type Slide, slideInView, slidesOfPage } from './slides.js';
import { swiped } from './swipe.js';

const prefix = '#present';
/** Stands for the first screen, whose address is empty, in an address where a state has to follow. */
const start = 'start';
/** The address that presents what is in the window. */
const here = 'here';

/** Decodes an address, which is badly encoded if somebody wrote it by hand. */
const decoded = (text: string): string => {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
};
const address = () => decodedLink(location.hash);
const isPresented = () => address() === prefix || address().startsWith(`${prefix}/`);

/** The largest number of a figure's inputs that are shown. */
const mostInputs = 2;
/** The shares of the window that the picture may take. Text, buttons and code are beside it. */
const room = { across: 0.76, down: 0.95 };
/** In a window 1920 pixels wide the picture is drawn at twice its size, if the height allows. */
const [wide, enough] = [1920, 2];
/**
 * Windows without room for text beside a legible picture: the text is above it, the buttons are below, and
 * the screen scrolls.
 */
const stacked = matchMedia('(max-width: 60rem), (max-height: 30rem), (orientation: portrait)');

/** How many screens each key moves on; presenters' clickers send the last four. */
const keys: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowDown: 1,
  ' ': 1,
  PageUp: -1,
  PageDown: 1,
  Home: -Infinity,
  End: Infinity,
};

/** What can lie over a screen: the list of all screens, the large code, or nothing but black. */
type Cover = 'slides' | 'code' | 'blank';
/** Clickers send a point to blank the screen. */
const coverKeys: Record<string, Cover> = { b: 'blank', '.': 'blank', o: 'slides', q: 'code' };

/** What was done on each screen, by its address, so that it is there again when somebody comes back. */
const memories = new Map<string, Memory>();

class Presenter {
  readonly #dialog = document.body.appendChild(document.createElement('dialog'));
  readonly #slides = slidesOfPage();
  #now = 0;
  /** Counts visits to screens: what an earlier visit to the same screen began must not change this one. */
  #visit = 0;
  #figure: FigureElement | undefined;
  /** The link to the screen's own state, before anybody changed it. */
  #ownLink = '';
  #fitted = false;
  /** Whether the figure has this screen's settings, no longer those of the previous screen. */
  #isSet = false;
  #cover: Cover | undefined;
  /** Says how far the handout has got. */
  #status = '';
  /** The address of the screen that showed what was in the window: leaving there does not move the page. */
  #from: string | undefined;

  constructor() {
    const dialog = this.#dialog;
    dialog.className = 'present';
    dialog.tabIndex = -1;
    dialog.ariaLabel = 'Presentation';
    // On the window, because the focus moves to the body when the focused element disappears.
    window.addEventListener('keydown', this.#press, { capture: true });
    dialog.addEventListener('click', this.#click, { capture: true });
    dialog.addEventListener('focusin', this.#focus);
    dialog.addEventListener('superpose-change', this.#change);
    dialog.addEventListener('superpose-drawn', this.#fit);
    dialog.addEventListener('cancel', this.#cancel);
    dialog.addEventListener('close', this.#end);
    swiped(dialog, (way) => this.#step(way));
    window.addEventListener('resize', this.#resize);
    window.addEventListener('hashchange', this.follow);
    dialog.toggleAttribute('data-stacked', stacked.matches);
    const from = address() === `${prefix}/${here}` ? slideInView(this.#slides) : undefined;
    dialog.showModal();
    if (from === undefined) this.follow();
    else {
      this.#go(from);
      this.#from = address();
    }
    // The first screen is read out with the dialog's name, later ones as they come.
    dialog.setAttribute('aria-describedby', 'presented');
  }

  get #slide(): Slide {
    return this.#slides[this.#now] as Slide;
  }

  get #memory(): Memory {
    return memories.get(this.#slide.at) ?? {};
  }

  #remember(what: Memory): void {
    memories.set(this.#slide.at, { ...this.#memory, ...what });
  }

  /** Goes to the screen of the address; the presentation ends if the address is elsewhere on the page. */
  readonly follow = (): void => {
    if (isPresented()) this.#go(this.#find(decoded(address().slice(prefix.length + 1))));
    else this.#dialog.close();
  };

  /**
   * Returns the number of an address’s screen. A figure or state that is not on the path gets a new screen.
   */
  #find(address: string): number {
    const slides = this.#slides;
    // The address of a screen, and of the state that somebody has set there.
    const [, base = '', state] = /^([^=]+?)\/(v=.*)$/s.exec(address) ?? [];
    const at = base === start ? '' : state === undefined ? address : base;
    const known = slides.findIndex((slide) => slide.at === at || slide.home === `#${at}`);
    if (known >= 0) {
      if (state !== undefined) memories.set(at, { ...memories.get(at), link: `#${state}` });
      return known;
    }
    const folded = document.getElementById(at)?.querySelector('superpose-figure')?.getAttribute('name');
    const link = readLink(`#${state ?? at}`) ?? { figure: folded ?? at, settings: [] };
    if ('refused' in link || !Object.hasOwn(figures, link.figure)) return 0;
    const like = slides.findLastIndex(({ figure }) => figure === link.figure);
    const place = like < 0 ? slides.length - 1 : like + 1;
    const home = at.includes('=') ? `#${at}` : `#${link.figure}`;
    slides.splice(place, 0, { at, home, part: '', title: '', text: '', ...link });
    return place;
  }

  /** Goes on or back. Going on from a question first shows its answer. */
  #step(by: number): void {
    if (this.#cover) this.#show(undefined);
    else if (by === 1 && this.#slide.question && !this.#memory.answer) void this.#reveal();
    else this.#go(this.#now + by);
  }

  #go(place: number): void {
    this.#now = Math.max(0, Math.min(this.#slides.length - 1, place));
    this.#visit++;
    this.#cover = undefined;
    const { figure, settings } = this.#slide;
    this.#note();
    this.#fitted = this.#isSet = false;
    this.#dialog.scrollTo(0, 0);
    this.#dialog.removeAttribute('aria-describedby');
    if (this.#figure?.name !== figure) {
      this.#figure?.remove();
      this.#figure = undefined;
    }
    if (figure) void this.#present(figure, settings);
    else this.#render();
    this.#takeKeys();
  }

  async #present(name: string, settings: [string, string][]): Promise<void> {
    const visit = this.#visit;
    if (!this.#figure) {
      this.#figure = document.createElement('superpose-figure') as HTMLElement as FigureElement;
      this.#figure.setAttribute('name', name);
      this.#figure.style.visibility = 'hidden';
      // Until the figure has computed, the picture of its first view is shown, pale.
      const picture = document.createElement('img');
      picture.src = `${home}pictures/${name}-wide.svg`;
      picture.alt = '';
      this.#figure.append(picture);
    }
    this.#render();
    const figure = this.#figure;
    await figure.show(settings);
    if (visit !== this.#visit) return;
    this.#ownLink = this.#linkNow(false) ?? '';
    const changed = readLink(this.#memory.link ?? '');
    if (changed && 'settings' in changed) await figure.show(changed.settings);
    if (visit !== this.#visit) return;
    this.#keep();
    this.#fit();
  }

  /** Remembers how the figure is set, unless that is the screen's own state, and writes the address. */
  #keep(): void {
    const link = this.#linkNow(false);
    this.#remember({ link: link === this.#ownLink ? undefined : link });
    this.#isSet = true;
    this.#note(this.#isOther ? this.#linkNow() : undefined);
  }

  /** A link to the figure as it is set, with or without the texts that it shares with the page. */
  #linkNow(withTexts = true): string | undefined {
    const { figure, settings } = this.#figure?.request ?? {};
    if (!figure || !settings) return undefined;
    const link = writeLink(figure.name, figure.controls, settings);
    if (withTexts) return link;
    const fields = new URLSearchParams(link.slice(1));
    for (const [name, control] of Object.entries(figure.controls as Record<string, Control>)) {
      const text = pageTexts()[name] ?? control.initial;
      if (control.kind === 'text' && control.shared && settings[name] === text) fields.delete(name);
    }
    return `#${fields}`;
  }

  /** Whether the figure differs from its screen: somebody set it, or it shows the reader's own sentence. */
  get #isOther(): boolean {
    return this.#memory.link !== undefined || (this.#isSet && (this.#figure?.request.showsUserText ?? false));
  }

  /** The fragment of the address that shows the same on the page. */
  get #home(): string {
    return (this.#isOther ? this.#linkNow() : undefined) ?? this.#slide.home;
  }

  /**
   * Focuses the dialog, because the next key would go to whatever was touched last. A button of the bar that
   * is used by keyboard keeps the focus while it is enabled.
   */
  #takeKeys(): void {
    if (!this.#dialog.querySelector('.bar :enabled:focus-visible')) this.#dialog.focus();
  }

  /**
   * Writes the address of the screen and of what was set there, unless the address has just led elsewhere:
   * then the event that closes the presentation is on its way.
   */
  #note(link = this.#memory.link): void {
    if (!isPresented()) return;
    const { at } = this.#slide;
    const path = link === undefined ? at : `${at || start}/${link.slice(1)}`;
    writeAddress(path ? `${prefix}/${path}` : prefix);
  }

  #show(cover: Cover | undefined): void {
    this.#cover = cover;
    this.#render();
    if (cover === 'slides') this.#dialog.querySelector<HTMLElement>('.slides [aria-current]')?.focus();
    else this.#dialog.focus();
  }

  /** Shows the answer to a question and, if a choice was made, whether that was right. */
  async #reveal(chosen = this.#memory.chosen): Promise<void> {
    const slide = this.#slide;
    this.#remember({ chosen, answer: { right: '', because: 'Computing…' } });
    this.#render();
    const answer = await slide.question
      ?.answer(chosen)
      .catch((error: Error): Answer => ({ right: '', because: error.message }));
    memories.set(slide.at, { ...memories.get(slide.at), answer });
    if (slide === this.#slide) this.#render();
  }

  async #print(): Promise<void> {
    const say = (status: string) => {
      this.#status = status;
      this.#render();
    };
    // The list of screens says how far the handout has got.
    this.#show('slides');
    try {
      const { printHandout } = await import('./handout.js');
      await printHandout(this.#slides, say);
      say('');
    } catch {
      say('The handout could not be made. Reload the page to try again.');
    }
  }

  #render(): void {
    const { part, title, sentences, question } = this.#slide;
    const { view } = this.#figure?.picture ?? {};
    // A screen's text is about the screen's own state only.
    const text = this.#isOther ? '' : this.#slide.text;
    // A text about a picture that is not drawn yet would be read out twice.
    const waits = !text && !sentences && !question && !this.#fitted;
    const asked = view && ['trained', 'mixed'].includes(view.source) ? openYours : nothing;
    const step = `${this.#now + 1} of ${this.#slides.length}`;
    untranslate(this.#dialog);
    render(
      html`<div class="picture">${this.#figure}${asked}</div>
        <div class=${sentences || question ? 'said alone' : 'said'} id="presented" aria-live=${waits ? 'off' : 'polite'} aria-atomic="true">
          <p class="part"><span class="unseen">${step}. </span>${part}</p>
          <h2>${title || view?.figure.title}</h2>
          ${question ? questionOf(question, this.#memory, (chosen) => void this.#reveal(chosen)) : (sentences ?? [text || firstSentences(view?.finding)]).map((sentence) => html`<p>${sentence}</p>`)}
        </div>
        ${this.#bar(step, asked)} ${this.#covered()}`,
      this.#dialog,
    );
    const bar = this.#dialog.querySelector('.bar') as HTMLElement;
    this.#dialog.style.setProperty('--bar', `${bar.offsetHeight}px`);
  }

  /**
   * Shows as many of the inputs that are in sight on the page as fit between the text and the code, or on a
   * phone above the buttons.
   */
  async #fitInputs(): Promise<void> {
    const figure = this.#figure;
    const controls = Object.entries(figure?.request.figure?.controls ?? {}) as [string, Control][];
    const names = controls.filter(([, { more }]) => !more).map(([name]) => name);
    for (let count = mostInputs; figure && count >= 0; count--) {
      figure.keep = names.slice(0, count).join(' ');
      await figure.updateComplete;
      const inputs = figure.renderRoot.querySelector('.controls')?.getBoundingClientRect();
      const text = this.#dialog.querySelector('.said > :last-child')?.getBoundingClientRect();
      if (!inputs || !text) return;
      if (stacked.matches ? inputs.height <= innerHeight / 5 : inputs.top >= text.bottom) return;
    }
  }

  #bar(step: string, asked: TemplateResult | typeof nothing): TemplateResult {
    const code = qrCode(new URL(this.#home, location.href).href);
    return html`<div class="bar">${asked}
      ${code ? html`<button class="code" aria-label="Enlarge the code" title="Q" @click=${() => this.#show('code')}>${code}</button><p>Open it on a phone</p>` : nothing}
      <div>
        <button aria-label="Previous" ?disabled=${this.#now === 0} @click=${() => this.#go(this.#now - 1)}>←</button>
        <button class="place" aria-label="${step}, all slides" title="O" @click=${() => this.#show('slides')}>${step}</button>
        <button aria-label="Next" ?disabled=${this.#now === this.#slides.length - 1} @click=${() => this.#step(1)}>→</button>
        ${this.#memory.link === undefined ? nothing : html`<button @click=${this.#reset}>Reset</button>`}
        <button title="Escape" @click=${() => this.#dialog.close()}>Leave</button>
      </div>
    </div>`;
  }

  #covered(): TemplateResult | typeof nothing {
    switch (this.#cover) {
      case 'blank':
        return html`<div class="cover blank" role="status" aria-label="Blank" @click=${() => this.#show(undefined)}></div>`;
      case 'code':
        return largeCode(new URL(this.#home, location.href).href, () => this.#show(undefined));
      case 'slides':
        return listOf(this.#slides, this.#now, this.#status, () => void this.#print());
      default:
        return nothing;
    }
  }

  /** Draws the picture as large as the window allows. */
  readonly #fit = (): void => {
    const figure = this.#figure;
    const result = figure?.result;
    if (this.#fitted || !figure || !result || figure.busy) return;
    this.#fitted = true;
    // What is around the picture, such as a remark below it, takes height, too.
    const surface = figure.renderRoot.querySelector('.surface') as HTMLElement;
    const around = (figure.offsetHeight - surface.offsetHeight) / figure.surroundings.scale;
    const across = stacked.matches
      ? (figure.parentElement as HTMLElement).clientWidth
      : room.across * innerWidth;
    let scale = Math.max(1, (enough * innerWidth) / wide);
    let width: number;
    do {
      width = Math.floor(across / scale);
      const { height } = result.figure.scene(result.data, result.state, width);
      if ((height + around) * scale <= room.down * innerHeight) break;
      scale *= 0.995;
    } while (scale > 1);
    this.#dialog.style.setProperty('--picture', `${16 * scale}px`);
    figure.style.width = `${width * scale}px`;
    figure.style.visibility = '';
    this.#render();
    void this.#fitInputs();
  };

  readonly #resize = (): void => {
    this.#dialog.toggleAttribute('data-stacked', stacked.matches);
    this.#fitted = false;
    this.#fit();
  };

  readonly #press = (event: KeyboardEvent): void => {
    if (event.altKey) return;
    const on = event.composedPath()[0] as Element;
    const types = on.matches('input:not([type=range], [type=radio], [type=checkbox]), textarea, select');
    if (event.ctrlKey || event.metaKey) {
      if (event.key === 'p') this.#take(event, () => void this.#print());
      return;
    }
    if (this.#cover && this.#pressCovered(event)) return;
    if (!types && (event.key === 'p' || Object.hasOwn(coverKeys, event.key))) {
      this.#take(event, () => {
        if (event.key === 'p') void this.#print();
        else this.#show(coverKeys[event.key]);
      });
      return;
    }
    const by = event.key === ' ' && event.shiftKey ? -1 : keys[event.key];
    if (by === undefined) return;
    // In a picture or an input, keys act there, except those that clickers send.
    if (!event.key.startsWith('Page') && on.matches('input, select, textarea, .surface, .tokens')) return;
    // Space presses the focused button or link.
    if (event.key === ' ' && on.matches('button, a, summary')) return;
    this.#take(event, () => this.#step(by));
  };

  #take(event: Event, act: () => void): void {
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** In the list, arrows move along it. Any other key takes away what lies over the screen. */
  #pressCovered(event: KeyboardEvent): boolean {
    const links = [...this.#dialog.querySelectorAll<HTMLElement>('.slides a')];
    const by = keys[event.key];
    if (this.#cover === 'slides') {
      if (['Enter', ' ', 'Tab', 'Shift'].includes(event.key)) return true;
      if (by !== undefined) {
        const at = links.indexOf(document.activeElement as HTMLElement);
        const next = Math.max(0, Math.min(links.length - 1, at + by));
        this.#take(event, () => links[next]?.focus());
        return true;
      }
    }
    if (by === undefined && event.key !== 'Escape' && coverKeys[event.key] !== this.#cover) return false;
    this.#take(event, () => this.#show(undefined));
    return true;
  }

  /** A phone's Back takes away what lies over the screen. */
  readonly #cancel = (event: Event): void => {
    if (!this.#cover) return;
    event.preventDefault();
    this.#show(undefined);
  };

  /** Presents what a picture's link opens. A link to a place without a screen leads there. */
  readonly #click = (event: Event): void => {
    const link = event.composedPath()[0] as Element;
    if (!(link instanceof HTMLAnchorElement) || link.pathname !== location.pathname) return;
    const isScreen = link.hash.startsWith(prefix);
    if (!isScreen && !readLink(link.hash) && !this.#slides.some(({ home }) => home === link.hash)) return;
    event.preventDefault();
    event.stopPropagation();
    this.#go(this.#find(link.hash.slice(isScreen ? prefix.length + 1 : 1)));
  };

  /** After a click into the picture, keys still go to the presentation. */
  readonly #focus = (event: Event): void => {
    const within = event.composedPath()[0] as Element;
    if (within.matches('.surface:not(:focus-visible)')) this.#dialog.focus();
  };

  /** Changes the address and the code to the new state; the page’s figures stay as they are. */
  readonly #change = (event: Event): void => {
    event.stopPropagation();
    if (!(event as CustomEvent<Change>).detail.settled) return;
    this.#keep();
    this.#fitted = false;
    this.#render();
  };

  readonly #reset = (): void => {
    this.#remember({ link: undefined });
    this.#go(this.#now);
  };

  readonly #end = (): void => {
    window.removeEventListener('keydown', this.#press, { capture: true });
    window.removeEventListener('resize', this.#resize);
    window.removeEventListener('hashchange', this.follow);
    this.#dialog.remove();
    presenter = undefined;
    if (!isPresented()) return;
    // The page goes to where the presentation ended; if that is where it began, the page stays as it was.
    if (address() === this.#from || this.#home === '#') writeAddress(location.pathname);
    else location.replace(this.#home);
  };
}

/** The first sentences of a finding, as many as fit beside a picture. */
const firstSentences = (finding = ''): string =>
  finding
    .split(/(?<=\.) /)
    .slice(0, 2)
    .join(' ');

let presenter: Presenter | undefined;
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

export function present(): void {
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  if (!presenter) presenter = new Presenter();
}
