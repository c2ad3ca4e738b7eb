// <script src=".../resize.js"></script>, for pages with figures in frames whose host does not know the
// frames' message: gives each frame the height that it reports, and sends it the page's theme, which a frame
// cannot see.

import { readFrameMessage, themeMessage } from './frameMessages.js';
import { pageTheme, watchPageTheme } from './pageTheme.js';

/** The folder of this script, where the figures are, too. */
const script = document.currentScript;
const home = script instanceof HTMLScriptElement && script.src ? new URL('./', script.src).href : undefined;
/** The message that each frame was sent last. */
const lastMessages = new Map<HTMLIFrameElement, string>();

/**
 * Whether a frame is from this script's folder, or from the page's own server, and is still there. A
 * sandboxed frame has the origin "null". Other frames, and those with data in place of an address, are
 * ignored.
 */
function isFigure(frame: HTMLIFrameElement, from: string): boolean {
  if (frame.hasAttribute('srcdoc') || !/^https?:/.test(frame.src) || URL.canParse?.(frame.src) === false)
    return false;
  const { origin } = new URL(frame.src);
  const isOurs = home !== undefined && frame.src.startsWith(home);
  return (isOurs || origin === location.origin) && (from === origin || from === 'null');
}

/** Sends the theme to every frame that has been sent one, because the page may have changed it. */
function follow(): void {
  for (const frame of lastMessages.keys()) {
    if (frame.isConnected) sendTheme(frame);
    else lastMessages.delete(frame);
  }
}

/** Sends a frame the theme if it is new. Only frames that have sent a message get one. */
function sendTheme(frame: HTMLIFrameElement): void {
  const message = themeMessage(pageTheme(frame));
  if (lastMessages.get(frame) === message) return;
  lastMessages.set(frame, message);
  frame.contentWindow?.postMessage(message, '*');
}

window.addEventListener('message', ({ data, source, origin }) => {
  const message = readFrameMessage(data);
  if (message === undefined) return;
  const frames = [...document.querySelectorAll('iframe')];
  const frame = frames.find(({ contentWindow }) => contentWindow === source);
  if (!frame || !isFigure(frame, origin)) return;
  // A frame asks when it has loaded, and then no longer knows an earlier theme.
  if (message === 'theme') lastMessages.delete(frame);
  else frame.style.height = `${message}px`;
  sendTheme(frame);
  // Not called earlier, because a script in the head runs before the page has a body.
  watchPageTheme(follow);
});
