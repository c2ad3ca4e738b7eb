// Writes a figure in its present state as one file: the page figures/NAME/ with that state, its picture, and
// the rows of the model that it needs.
import { type Result, toSvg } from '../element/exports.js';
import type { ModelExcerpt } from '../embed/modelExcerpt.js';
import type { SinglePage } from '../embed/single.js';
import { writtenState } from '../figures/controls.js';
import { escaped } from '../plot/svg.js';
import { newWorker } from '../worker/siteWorker.js';
import type { Question, Reply } from '../worker/transports.js';
import { type EmbedRequest, keepsAll } from './snippets.js';

/**
 * Returns what the state reads of the model. It asks a new worker, because a worker that has already read
 * something would not read that again.
 */
function excerptFor({ figure, state }: EmbedRequest): Promise<ModelExcerpt | undefined> {
  return new Promise((resolve, reject) => {
    const worker = newWorker();
    worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
      if ('progress' in reply || 'frame' in reply) return;
      worker.terminate();
      if ('error' in reply) reject(new Error(reply.error));
      else resolve(reply.data as ModelExcerpt | undefined);
    };
    worker.onerror = () => reject(new Error('The rows that the file needs could not be computed.'));
    worker.postMessage({ id: 0, figure: figure.name, state, excerpt: true } satisfies Question);
  });
}

/** The text of the file. */
export async function oneFile(request: EmbedRequest, result: Result): Promise<string> {
  const { figure, state, home, theme, keep, width } = request;
  const response = await fetch(`${home}figures/${figure.name}/`);
  if (!response.ok)
    throw new Error(`The figure’s page could not be fetched: the server answered ${response.status}.`);
  const page: SinglePage = {
    figure: figure.name,
    settings: writtenState(figure.controls, state),
    module: figure.module,
    ...(theme === 'auto' ? {} : { theme }),
    ...(keepsAll(request) ? {} : { keep: keep.join(' ') }),
    home,
    model: __SUPERPOSE_MODEL__,
    excerpt: await excerptFor(request),
  };
  const json = JSON.stringify(page).replaceAll('<', '\\u003c');
  const svg = `data:image/svg+xml,${encodeURIComponent(await toSvg(result, width, theme)).replace(/'/g, '%27')}`;
  const inside = `<img src="${svg}" alt="${escaped(figure.title)}"><p>${escaped(request.finding)}</p>`;
  // The replacements are functions because $ is special in a string.
  return (await response.text())
    .replace(
      /(<script type="application\/json" id="superpose-page">).*?(<\/script>)/s,
      (_, open, close) => open + json + close,
    )
    .replace(
      /(<superpose-figure name="[^"]*">).*?(<\/superpose-figure>)/s,
      (_, open, close) => open + inside + close,
    )
    .replace(/\S*THIRD-PARTY\.txt/, () => `${home}THIRD-PARTY.txt`)
    .replace("connect-src 'self'", () => `connect-src 'self' ${new URL(home).origin}`);
}
