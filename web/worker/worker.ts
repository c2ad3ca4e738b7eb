// Runs the library off the page's thread. The module is loaded at once, MiniLM when a text needs it.
import { answering, running } from './answers.js';
import { library } from './library.js';
import type { Question } from './protocol.js';

// In dist/ this file stands in assets/, beside model/.
const loaded = library({ from: new URL(/* @vite-ignore */ '../model/', import.meta.url) });
loaded.superpose().catch(() => {});

const answer = answering(running(loaded), (reply) => self.postMessage(reply));
self.onmessage = ({ data }: MessageEvent<Question>) => answer(data);
