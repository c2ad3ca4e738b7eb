// Moves settings by themselves: to a value through those in between, as a hand would, and once a little way
// and back, to show the reader that a handle can be dragged.
import { type Control, nearestValue, type State, type Value } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { latest } from '../plot/plainCopy.js';

export const lessMotion = matchMedia('(prefers-reduced-motion: reduce)');

interface Request {
  readonly figure: AnyFigure | undefined;
  readonly settings: State;
  change(name: string, value: Value, settled: boolean): void;
}

/** Calls `draw` with the fraction of the time that has passed, until that is 1 or `draw` returns false. */
function animate(milliseconds: number, draw: (part: number) => boolean): void {
  const start = performance.now();
  const frame = () => {
    const part = Math.min(1, (performance.now() - start) / milliseconds);
    if (draw(part) && part < 1) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** How long a glide takes over the whole range of a slider, and at least, in milliseconds. */
const wholeRange = 700;
const shortest = 180;

/** Moves a slider to a value, where the change is `settled`. A change by anybody else ends the glide. */
export function glide(request: Request, name: string, to: number, settled = true): void {
  const control = request.figure?.controls[name] as Control;
  const from = request.settings[name] as number;
  if (control.kind !== 'range' || lessMotion.matches) {
    request.change(name, to, settled);
    return;
  }
  let last = from;
  const end = nearestValue(control, to);
  const range = Math.abs(to - from) / (control.max - control.min);
  animate(Math.max(shortest, wholeRange * range), (part) => {
    if (request.settings[name] !== last) return false;
    // Fast at first, like a card that is thrown.
    last = nearestValue(control, from + (to - from) * (1 - (1 - part) ** 2)) as number;
    // The slider arrives before the time is over. A change after that would undo what was settled meanwhile.
    const isThere = last === end;
    request.change(name, last, settled && isThere);
    return !isThere;
  });
}

/**
 * How long the figure has been in sight before a handle moves, and how long the handle moves, in
 * milliseconds.
 */
const pause = 1100;
const nudge = 800;
/** Only the first figure of a page that can invite the reader does so, and only once. */
let hasInvited = false;

type Invitation = NonNullable<AnyFigure['invites']>;

interface Host extends Element {
  readonly request: Request;
  readonly cursors: { readonly isPointed: boolean };
}

interface Picture {
  preview(settings: State | undefined): void;
}

/**
 * Moves a handle a little way and back once a figure has been in sight, uncovered, for a while, unless the
 * reader has done something there.
 */
export function invite(host: Host, picture: Picture, { setting, to }: Invitation): void {
  if (hasInvited || lessMotion.matches) return;
  hasInvited = true;
  const { request, cursors } = host;
  const { settings } = request;
  const from = settings[setting as string] as number;
  // A dialog may cover a figure that the observer calls in sight.
  const isUncovered = () => {
    const { x, y, width, height } = host.getBoundingClientRect();
    const root = host.getRootNode() as Document | ShadowRoot;
    return host.contains(root.elementFromPoint(x + width / 2, y + height / 2));
  };
  const isUntouched = () => host.isConnected && request.settings === settings && !cursors.isPointed;
  let timer = 0;
  const watch = new IntersectionObserver(
    (entries) => {
      clearTimeout(timer);
      if (latest(entries).isIntersecting) timer = window.setTimeout(nudgeOnce, pause);
    },
    { threshold: 0.5 },
  );
  const nudgeOnce = () => {
    if (!isUncovered()) return;
    watch.disconnect();
    animate(nudge, (part) => {
      const moves = part < 1 && isUntouched();
      const value = from + (to - from) * Math.sin(Math.PI * part) ** 2;
      picture.preview(moves ? { [setting]: value } : undefined);
      return moves;
    });
  };
  watch.observe(host);
}
