// The colours of plot/colour.ts as custom properties, for the style sheets of pages.
import type { Plugin } from 'vite';
import { links, type Theme, themeVariables } from '../plot/colour.js';

const variables = (theme: Theme) => `:root{${themeVariables(theme)};--link:${links[theme]}}`;

/** Rules that define every colour, light and dark. */
export const paletteRules = `${variables('light')}@media (prefers-color-scheme:dark){${variables('dark')}}`;

/** Puts the colours in front of page.css. */
export const palette = (): Plugin => ({
  name: 'palette',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/page/page.css') ? `${paletteRules}\n${code}` : undefined),
});
