import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { DEFAULT_NODES } = require('@tryghost/kg-default-nodes');
const renderer = require('@tryghost/kg-lexical-html-renderer');
const LexicalHTMLRenderer = renderer.LexicalHTMLRenderer ?? renderer.default ?? renderer;

const cards = JSON.parse(readFileSync('cards.json', 'utf8'));
const children = cards.map((html) => ({ type: 'html', version: 1, html }));
const state = { root: { children, direction: null, format: '', indent: 0, type: 'root', version: 1 } };
const html = await new LexicalHTMLRenderer({ nodes: DEFAULT_NODES }).render(JSON.stringify(state), {});
mkdirSync('public', { recursive: true });
const style = `<style>.gh-content { display: grid; grid-template-columns: [full-start] minmax(1rem, 1fr) [main-start] minmax(auto, 720px) [main-end] minmax(1rem, 1fr) [full-end] } .gh-content > * { grid-column: main-start / main-end }</style>`;
writeFileSync(
  'public/index.html',
  `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Ghost</title>${style}<body><section class="gh-content">${html}</section>`,
);
