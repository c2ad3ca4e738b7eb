// The element's styles: the same on every page, sized by the reader's own text, coloured by the theme.
import { unsafeCSS } from 'lit';
import { terms } from '../figures/terms.js';
import { inkClasses, themeVariables } from '../plot/colour.js';
import controlStyles from './controls.css?inline';
import styles from './element.css?inline';

/** The reader's own text size. The rem of the surrounding page may be anything. */
function ownRem(): string {
  if (!CSS.registerProperty) return '16px';
  try {
    CSS.registerProperty({
      name: '--superpose-rem',
      syntax: '<length>',
      inherits: true,
      initialValue: '16px',
    });
  } catch {
    // It is registered already.
  }
  // The root's font is medium, whatever the page says.
  return '1em';
}

const sized = (css: string) =>
  css.replace(
    /(?<!@media[^{]*)(?<![\w.])(-?\d*\.?\d+)rem\b/g,
    (_, size) => `calc(${size} * var(--superpose-rem))`,
  );

const themes = `.root{--superpose-rem:${ownRem()};${themeVariables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${themeVariables('dark')}}}.root[data-theme=dark]{${themeVariables('dark')}}`;
const lighting = terms
  .map((term) => `.root[data-lit='${term}'] [data-term]:not([data-term='${term}']){opacity:.22}`)
  .join('');
const swatches = [...terms, 'accent', 'second', 'third', 'warning', 'quiet', 'ink']
  .map((term) => `.swatch.f-${term}{background:var(--${term})}`)
  .join('');

export const elementStyles = [
  unsafeCSS(themes + inkClasses + lighting + swatches),
  unsafeCSS(sized(controlStyles)),
  unsafeCSS(sized(styles)),
];
