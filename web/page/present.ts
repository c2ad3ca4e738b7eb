// Present mode shows one step of a beat on each screen, as large as the window allows, after the opening
// figures, the short answer and the grid. Its code is loaded when somebody presents.
import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { html, render } from 'lit';
import { writeAddress } from '../element/addressBar.js';
import type { FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { decodedLink, readLink, writeLink } from '../element/link.js';
import { untranslate } from '../element/translated.js';
import { figures } from '../figures/index.js';
import { openingFigures } from '../figures/opening.js';
import styles from './present.css?inline';

/** A screen. */
interface Slide {
  /** What follows `#present/` in its address. */
  at: string;
  /** The fragment of its place on the page. */
  home: string;
  /** The beat that it belongs to, and its title and text; if these are empty, the figure's are shown. */
  part: string;
  title: string;
  text: string;
  /** Without a figure, the screen shows sentences alone. */
  figure?: string;
  settings: [string, string][];
  sentences?: string[];
}

/** The text of an element, with its non-breaking spaces. */
const textOf = (place: Element, selector: string): string =>
  place
    .querySelector(selector)
    ?.textContent?.replace(/[ \n]+/g, ' ')
    .trim() ?? '';

function opening(place: string, at: string, home: string, text?: string): Slide {
  const section = document.querySelector(place) as Element;
  const figure = section.querySelector('superpose-figure')?.getAttribute('name') ?? '';
  const says = text ? textOf(section, text) : '';
  return { at, home, part: '', title: textOf(section, 'h1, h2'), text: says, figure, settings: [] };
}

function shortAnswer(): Slide {
  const section = document.querySelector('#answer') as Element;
  const sentences = [...section.querySelectorAll('p')].map((sentence) => sentence.textContent ?? '');
  const title = textOf(section, 'h2');
  return { at: 'answer', home: '#answer', part: '', title, text: '', settings: [], sentences };
}

/** As many sentences as fit beside a picture. */
const firstSentences = (finding = ''): string =>
  finding
    .split(/(?<=\.) /)
    .slice(0, 2)
    .join(' ');

/** The screens of the page's path, in its order and in its words. */
function slidesOfPage(): Slide[] {
  const steps = [...document.querySelectorAll('.beat')].flatMap((beat) =>
    [...beat.querySelectorAll('.step')].flatMap((step, place) => {
      const home = (step.querySelector('h3 > a') as HTMLAnchorElement).hash;
      const link = readLink(home);
      if (!link || 'refused' in link) return [];
      const at = place === 0 ? beat.id : `${beat.id}/${place + 1}`;
      const [part, title, text] = [textOf(beat, 'h2'), textOf(step, 'h3'), textOf(step, 'p')] as const;
      return [{ at, home, part, title, text, ...link }];
    }),
  );
  return [
    // The first of them stands in the page's header.
    opening('main > header', '', '#', '.short'),
    ...Object.keys(openingFigures)
      .slice(1)
      .map((id) => opening(`#${id}`, id, `#${id}`)),
    shortAnswer(),
    opening('#grid', 'grid', '#grid'),
    ...steps,
  ];
}

const prefix = '#present';
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

/** The shares of the window that the picture may take. Text, buttons and code are beside it. */
const room = { across: 0.76, down: 0.95 };
/** In a window 1920 pixels wide the picture is drawn at twice its size, if the height allows. */
const [wide, enough] = [1920, 2];
/**
 * There is no room for text beside a legible picture: text is above, buttons are below, and the screen
 * scrolls.
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

class Presenter {
  readonly #dialog = document.body.appendChild(document.createElement('dialog'));
  readonly #slides = slidesOfPage();
  #now = 0;
  #figure: FigureElement | undefined;
  /** Where the state that is shown is on the page. */
  #home = '';
  #fitted = false;

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
    dialog.addEventListener('close', this.#end);
    window.addEventListener('resize', this.#resize);
    window.addEventListener('hashchange', this.follow);
    dialog.toggleAttribute('data-stacked', stacked.matches);
    dialog.showModal();
    this.follow();
    // The first screen is read out with the dialog's name, later ones as they come.
    dialog.setAttribute('aria-describedby', 'presented');
  }

  /** Goes to the screen of the address; the presentation ends if the address is elsewhere on the page. */
  readonly follow = (): void => {
    if (isPresented()) this.#go(this.#find(decoded(address().slice(prefix.length + 1))));
    else this.#dialog.close();
  };

  /**
   * Returns the number of an address’s screen. A figure or state that is not on the path gets a new screen.
   */
  #find(at: string): number {
    const slides = this.#slides;
    const known = slides.findIndex((slide) => slide.at === at || slide.home === `#${at}`);
    if (known >= 0) return known;
    const link = readLink(`#${at}`) ?? { figure: at, settings: [] };
    if ('refused' in link || !Object.hasOwn(figures, link.figure)) return 0;
    const like = slides.findLastIndex(({ figure }) => figure === link.figure);
    const place = like < 0 ? slides.length - 1 : like + 1;
    const home = at.includes('=') ? `#${at}` : `#${link.figure}`;
    slides.splice(place, 0, { at, home, part: '', title: '', text: '', ...link });
    return place;
  }

  #go(place: number): void {
    this.#now = Math.max(0, Math.min(this.#slides.length - 1, place));
    const { at, home, figure, settings } = this.#slides[this.#now] as Slide;
    this.#home = home;
    this.#note(at);
    this.#fitted = false;
    this.#dialog.scrollTo(0, 0);
    this.#dialog.removeAttribute('aria-describedby');
    if (this.#figure?.name !== figure) {
      this.#figure?.remove();
      this.#figure = undefined;
    }
    if (figure) this.#show(figure, settings);
    else this.#render();
    this.#takeKeys();
  }

  #show(figure: string, settings: [string, string][]): void {
    if (!this.#figure) {
      this.#figure = document.createElement('superpose-figure') as HTMLElement as FigureElement;
      this.#figure.setAttribute('name', figure);
      // The buttons stay, and of the inputs only the first figure’s slider.
      this.#figure.setAttribute('keep', 'pull');
      this.#figure.style.visibility = 'hidden';
      // Until it has computed, the picture of its first view is shown, pale.
      const picture = document.createElement('img');
      picture.src = `./pictures/${figure}-wide.svg`;
      picture.alt = '';
      this.#figure.append(picture);
    }
    this.#render();
    void this.#figure.show(settings).then(this.#fit);
  }

  /**
   * Focuses the dialog, because the next key would go to whatever was touched last. A button of the bar that
   * is used by keyboard keeps the focus while it is enabled.
   */
  #takeKeys(): void {
    if (!this.#dialog.querySelector('.bar :enabled:focus-visible')) this.#dialog.focus();
  }

  #note(at: string): void {
    writeAddress(at ? `${prefix}/${at}` : prefix);
  }

  #render(): void {
    const { part, title, text, sentences, home } = this.#slides[this.#now] as Slide;
    // The text of a screen is about its first state.
    const stateText = this.#home === home ? text : '';
    const { view } = this.#figure?.picture ?? {};
    // A text about a picture that is not drawn yet would be read out twice.
    const waits = !stateText && !sentences && !this.#fitted;
    const step = `${this.#now + 1} of ${this.#slides.length}`;
    const to = (by: number) => () => this.#go(this.#now + by);
    untranslate(this.#dialog);
    render(
      html`<div class="picture">${this.#figure}</div>
        <div class=${sentences ? 'said alone' : 'said'} id="presented" aria-live=${waits ? 'off' : 'polite'} aria-atomic="true">
          <p class="part"><span class="unseen">${step}. </span>${part}</p>
          <h2>${title || view?.figure.title}</h2>
          ${(sentences ?? [stateText || firstSentences(view?.finding)]).map((sentence) => html`<p>${sentence}</p>`)}
        </div>
        <div class="bar">
          ${this.#code()}
          <div>
            <button aria-label="Previous" ?disabled=${this.#now === 0} @click=${to(-1)}>←</button>
            <span>${step}</span>
            <button aria-label="Next" ?disabled=${this.#now === this.#slides.length - 1} @click=${to(1)}>→</button>
            <button title="Escape" @click=${() => this.#dialog.close()}>Leave</button>
          </div>
        </div>`,
      this.#dialog,
    );
  }

  #code() {
    let code: ReturnType<typeof generate>;
    try {
      code = generate(new URL(this.#home, location.href).href);
    } catch {
      // A state with a long text does not fit into a code.
      return '';
    }
    return html`<svg role="img" aria-label="QR code of this state" viewBox="-4 -4 ${code.size + 8} ${code.size + 8}">
      <path class="ground" d="M-4-4h${code.size + 8}v${code.size + 8}h-${code.size + 8}z" /><path d=${toSvgPath(code)} /></svg>
      <p>Open it on a phone</p>`;
  }

  /** Draws the picture as large as the window allows. */
  readonly #fit = (): void => {
    const figure = this.#figure;
    const result = figure?.result;
    if (this.#fitted || !figure || !result || figure.busy) return;
    this.#fitted = true;
    // A remark is below the picture.
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
  };

  readonly #resize = (): void => {
    this.#dialog.toggleAttribute('data-stacked', stacked.matches);
    this.#fitted = false;
    this.#fit();
  };

  readonly #press = (event: KeyboardEvent): void => {
    const by = event.key === ' ' && event.shiftKey ? -1 : keys[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const on = event.composedPath()[0] as Element;
    // In a picture or an input, keys act there, except those that clickers send.
    if (!event.key.startsWith('Page') && on.matches('input, select, textarea, .surface, .tokens')) return;
    // Space presses the focused button or link.
    if (event.key === ' ' && on.matches('button, a, summary')) return;
    event.preventDefault();
    event.stopPropagation();
    this.#go(this.#now + by);
  };

  /** Presents what a picture's link opens. */
  readonly #click = (event: Event): void => {
    const link = event.composedPath()[0] as Element;
    if (!(link instanceof HTMLAnchorElement) || link.pathname !== location.pathname) return;
    event.preventDefault();
    event.stopPropagation();
    this.#go(this.#find(link.hash.slice(1)));
  };

  /** After a click into the picture, keys still go to the presentation. */
  readonly #focus = (event: Event): void => {
    const within = event.composedPath()[0] as Element;
    if (within.matches('.surface:not(:focus-visible)')) this.#dialog.focus();
  };

  /** Changes the address and the code to the new state; the page’s figures stay as they are. */
  readonly #change = (event: Event): void => {
    event.stopPropagation();
    const { state, settled } = (event as CustomEvent<Change>).detail;
    const { figure } = this.#figure?.request ?? {};
    if (!settled || !figure) return;
    this.#home = writeLink(figure.name, figure.controls, state);
    this.#note(this.#home.slice(1));
    this.#fitted = false;
    this.#render();
  };

  readonly #end = (): void => {
    window.removeEventListener('keydown', this.#press, { capture: true });
    window.removeEventListener('resize', this.#resize);
    window.removeEventListener('hashchange', this.follow);
    this.#dialog.remove();
    presenter = undefined;
    // The page goes to where the presentation ended or, from the first screen, stays where it was.
    if (isPresented() && this.#home === '#') writeAddress(location.pathname);
    else if (isPresented()) location.replace(this.#home);
  };
}

let presenter: Presenter | undefined;
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

export function present(): void {
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  if (!presenter) presenter = new Presenter();
}
