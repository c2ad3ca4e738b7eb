// For a page whose frames hold figures, and whose host does not know their message: makes each as high as it
// says, and tells it the theme around it, which a frame cannot see. <script src=".../resize.js"></script>
import { themeAround, watchAround } from './around.js';
import { themeMessage } from './framed.js';

const most = 20_000;
const told = new Map<HTMLIFrameElement, string>();

/** The page has changed its theme, perhaps. */
function follow(): void {
  for (const frame of told.keys()) {
    if (frame.isConnected) tell(frame);
    else told.delete(frame);
  }
}

/** Only frames that have said something are told, and only what is new. */
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
    // A frame that asks was loaded, for the first time or again.
    if (context === 'superpose.theme') told.delete(frame);
    else if (context !== 'iframe.resize') return;
    else if (typeof height === 'number' && height > 0)
      frame.style.height = `${Math.min(Math.ceil(height), most)}px`;
    tell(frame);
    // Not before: in a head, the page has no body yet.
    watchAround(follow);
  } catch {
    // Somebody else's message.
  }
});
