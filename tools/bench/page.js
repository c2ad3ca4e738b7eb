// The client in a page, from a server of the whole checkout.
import straight from '../../build/bench/straight.js';
import { clientOf } from './client.js';
import { peersIn } from './peers.js';

globalThis.answer = clientOf({
  about: navigator.userAgent,
  peers: async () => ({ ...(await peersIn('/node_modules')), straight }),
});
