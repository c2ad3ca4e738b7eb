// <script src=".../resize.js"></script>, for pages with figures in frames whose host does not know the
// frames' message: makes each as high as it says, and tells it the theme around it, which a frame cannot see.
import { themeAround, watchAround } from './around.js';
import { themeMessage } from './framed.js';

const most = 20_000;
const told = new Map<HTMLIFrameElement, string>();

/** The page may have changed its theme. */
function follow(): void {
  for (const frame of told.keys()) {
    if (frame.isConnected) tell(frame);
    else told.delete(frame);
  }
}

/** Tells a frame the theme if it is new. Only frames that have sent a message are told. */
function tell(frame: HTMLIFrameElement): void {
  const message = themeMessage(themeAround(frame));
  if (told.get(frame) === message) return;
  told.set(frame, message);
  frame.contentWindow?.postMessage(message, '*');
}

window.addEventListener('message', ({ data, source }) => {
  if (typeof data !== 'string' || data.length > 10_000) return;
  if (!data.includes('iframe.resize') && !data.includes('superpose.theme')) return;
  try {
    const { context, height } = JSON.parse(data);
    const frame = [...document.querySelectorAll('iframe')].find((one) => one.contentWindow === source);
    if (!frame) return;
    // A frame asks when it has loaded, and has forgotten what it was told before.
    if (context === 'superpose.theme') told.delete(frame);
    else if (context !== 'iframe.resize') return;
    else if (typeof height === 'number' && height > 0)
      frame.style.height = `${Math.min(Math.ceil(height), most)}px`;
    tell(frame);
    // Not earlier: a script in the head runs before the page has a body.
    watchAround(follow);
  } catch {
    // Somebody else's message.
  }
});
