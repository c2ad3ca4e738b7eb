// The colours and the sizes of type of web/plot as custom properties, for the style sheets of pages.
import type { Plugin } from 'vite';
import { links, type Theme, themeVariables } from '../plot/colour.js';
import { sizeVariables } from '../plot/sizes.js';

const variables = (theme: Theme) => `:root{${themeVariables(theme)};--link:${links[theme]}}`;

/** Rules that define every size of type, and every colour, light and dark. */
export const paletteRules = `:root{${sizeVariables}}${variables('light')}@media (prefers-color-scheme:dark){${variables('dark')}}`;

/** Puts these rules in front of page.css. */
export const palette = (): Plugin => ({
  name: 'palette',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/page/page.css') ? `${paletteRules}\n${code}` : undefined),
});
