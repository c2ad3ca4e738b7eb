// The client in Node, as a child process that takes orders as messages.
import { clientOf } from './client.js';
import { inNode } from './peers.js';

const answer = clientOf(inNode);
process.on('message', async (order) =>
  process.send(await answer(order).catch((error) => ({ failed: String(error?.stack ?? error) }))),
);
