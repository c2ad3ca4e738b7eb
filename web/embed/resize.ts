// <script src=".../resize.js"></script>, for pages with figures in frames whose host does not know the
// frames' message: makes each as high as it says, and tells it the theme around it, which a frame cannot see.

import { said, themeMessage } from './framed.js';
import { pageTheme, watchPageTheme } from './pageTheme.js';

/** The folder of this script, where the figures are too. */
const script = document.currentScript;
const home = script instanceof HTMLScriptElement && script.src ? new URL('./', script.src).href : undefined;
const told = new Map<HTMLIFrameElement, string>();

/**
 * Whether a frame is of this script's folder, or of the page's own server, and still there. What is in a sandbox has
 * the origin "null". Of other frames, and of those with data in place of an address, nothing is heard.
 */
function isFigure(frame: HTMLIFrameElement, from: string): boolean {
  if (frame.hasAttribute('srcdoc') || !/^https?:/.test(frame.src) || URL.canParse?.(frame.src) === false)
    return false;
  const { origin } = new URL(frame.src);
  const isOurs = home !== undefined && frame.src.startsWith(home);
  return (isOurs || origin === location.origin) && (from === origin || from === 'null');
}

/** The page may have changed its theme. */
function follow(): void {
  for (const frame of told.keys()) {
    if (frame.isConnected) tell(frame);
    else told.delete(frame);
  }
}

/** Tells a frame the theme if it is new. Only frames that have sent a message are told. */
function tell(frame: HTMLIFrameElement): void {
  const message = themeMessage(pageTheme(frame));
  if (told.get(frame) === message) return;
  told.set(frame, message);
  frame.contentWindow?.postMessage(message, '*');
}

window.addEventListener('message', ({ data, source, origin }) => {
  const heard = said(data);
  if (heard === undefined) return;
  const frame = [...document.querySelectorAll('iframe')].find((one) => one.contentWindow === source);
  if (!frame || !isFigure(frame, origin)) return;
  // A frame asks when it has loaded, and has forgotten what it was told before.
  if (heard === 'theme') told.delete(frame);
  else frame.style.height = `${heard}px`;
  tell(frame);
  // Not earlier: a script in the head runs before the page has a body.
  watchPageTheme(follow);
});
