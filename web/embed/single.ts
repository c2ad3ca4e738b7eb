// A figure in one file. This classic inline script is the page and, in a blob, also the worker. It runs in a
// frame that may run scripts and nothing else, from a server without CORS, and from disk.
import { writeAddress } from '../element/addressBar.js';
import type { FigureElement } from '../element/figureElement.js';
import type { Change } from '../element/figureRequest.js';
import { hostPage, readLink, writeLink } from '../element/link.js';
import { readState } from '../figures/controls.js';
import { answering } from '../worker/answers.js';
import { siteAdvice } from '../worker/library.js';
import { blobWorker, pageThread, transports } from '../worker/transports.js';
import { followTheme, originalAddress, reportHeight } from './frameMessages.js';
import { fromBase64, type ModelExcerpt } from './modelExcerpt.js';
import { answerQuestions, type ComputeResources, computeWithSupplies } from './program.js';

/** The data in the page beside this script. */
export interface SinglePage {
  figure: string;
  /** As in links: settings by name. */
  settings: [string, string][];
  /** The module that is in the file; the full one unless this says `small`. */
  module?: 'small' | undefined;
  theme?: string | undefined;
  keep?: string | undefined;
  /** Address of the page of all figures, if it has one; relative to this file, or absolute. */
  home?: string | undefined;
  /** The folder of the model's files, absolute or relative to that page; empty if the site names none. */
  model: string;
  excerpt?: ModelExcerpt | undefined;
}

const textOf = (id: string) => document.getElementById(id)?.textContent ?? '';

/** The full module also has the functions of the small one. */
function modulesOf({ module }: SinglePage) {
  const bytes = fromBase64(textOf('superpose-wasm')).buffer;
  return module === 'small' ? { small: bytes } : { small: bytes, full: bytes };
}

/** The absolute address of the page of all figures. A relative one is of no use to a file on disk. */
function homeOf({ home }: SinglePage): string | undefined {
  if (home === undefined) return undefined;
  const isOnServer = /^https?:$/.test(location.protocol);
  const address = isOnServer ? new URL(home, location.href).href : home;
  return /^https?:/.test(address) ? address : undefined;
}

/** The absolute address of the model's folder, if there is one. */
const modelOf = ({ model }: SinglePage, home: string | undefined): string | undefined => {
  if (/^https?:/.test(model)) return model;
  return home && model ? new URL(model, home).href : undefined;
};

async function showPage(script: string): Promise<void> {
  const page: SinglePage = JSON.parse(textOf('superpose-page'));
  const home = homeOf(page);
  hostPage.foreign = true;
  hostPage.home = home;
  if (page.settings.length > 0)
    hostPage.standIn = { settings: page.settings, called: 'the state that this file was made with' };
  const supplies = (): ComputeResources => ({
    module: {
      simd: 'plain',
      wasm: modulesOf(page),
    },
    excerpt: page.excerpt,
    model: modelOf(page, home),
    modelAdvice: siteAdvice,
  });
  transports.push(
    blobWorker(script, supplies),
    pageThread(async () => (reply) => answering(computeWithSupplies(supplies()), reply)),
  );
  const { FigureElement: Element, defineFigures } = await import('../element/figureElement.js');
  defineFigures();
  const element = document.querySelector('superpose-figure');
  reportHeight(element);
  if (!(element instanceof Element)) return;
  followTheme((theme) => {
    document.body.dataset.around = theme;
    element.surroundings.pageTheme = theme;
    element.requestUpdate();
  });
  const follow = async () => {
    const { theme, keep, settings, problem } = withLink(page, location.hash);
    for (const [name, value] of Object.entries({ theme, keep })) {
      if (value === undefined) element.removeAttribute(name);
      else element.setAttribute(name, value);
    }
    await element.show(settings, problem);
    // After a reload, the address may have the reader's settings, which Reset must not go back to.
    const initial = withLink(page, new URL(originalAddress()).hash).settings;
    const { request } = element;
    if (request.figure) request.initialSettings = readState(request.figure.controls, initial).state;
  };
  window.addEventListener('hashchange', follow);
  element.addEventListener('superpose-change', (event) => {
    if ((event as CustomEvent<Change>).detail.settled) void writeState(element);
  });
  await follow();
}

/** The page's settings, or those of a link in the address, which override them. */
function withLink(
  page: SinglePage,
  fragment: string,
): Pick<SinglePage, 'theme' | 'keep' | 'settings'> & { problem?: string } {
  const link = readLink(fragment);
  if (!link) return page;
  if ('refused' in link) return { ...page, problem: link.refused };
  if (link.figure !== page.figure) {
    const problem = `This link asks for a figure called “${link.figure.slice(0, 40)}”; this page has ${page.figure}.`;
    return { ...page, problem };
  }
  const extra = (name: string) => link.settings.find(([setting]) => setting === name)?.[1];
  return {
    theme: extra('theme') ?? page.theme,
    keep: extra('keep') ?? page.keep,
    settings: link.settings.filter(([name]) => name !== 'theme' && name !== 'keep'),
  };
}

/** Writes the state into the address. */
async function writeState(element: FigureElement): Promise<void> {
  const figure = await element.loaded();
  if (!figure) return;
  const extras = new URLSearchParams([
    ...['theme', 'keep'].flatMap((name): [string, string][] => {
      const value = element.getAttribute(name);
      return value === null ? [] : [[name, value]];
    }),
  ]).toString();
  const fragment = writeLink(element.name, figure.controls, element.state);
  writeAddress(`${fragment}${extras && `&${extras}`}`, { given: originalAddress() });
}

if (typeof document === 'undefined') answerQuestions();
else void showPage(document.currentScript?.textContent ?? '');
