// The client in Node: node node.js ADDRESS

import { serve } from './client.js';
import { inNode } from './modules.js';

const address = process.argv[2];
const ask = async (what, body = null) =>
  (await fetch(address + what, { method: 'POST', body: JSON.stringify(body) })).json();
await serve(ask, inNode);
process.exit(0);
