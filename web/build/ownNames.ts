// The bundler lists a module's exports with `for … in`, which also takes what a page has added to
// Object.prototype, and then defines it anew: on such a page no figure would come.
import type { Plugin } from 'vite';

const listed = /for\s*\(var (\w+) in (\w+)\)/g;

export const ownNames = (): Plugin => ({
  name: 'own-names',
  renderChunk: (code) =>
    code.includes('Symbol.toStringTag') ? code.replace(listed, 'for (var $1 of Object.keys($2))') : null,
});
