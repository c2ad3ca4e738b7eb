// Styles that figures have only on other people's pages. Such a page can set every colour that does not stand
// for a term, by the property --superpose-NAME.
import { unsafeCSS } from 'lit';
import { elementStyles } from '../element/surroundings.js';
import { canvasInks } from '../plot/canvas.js';
import { inks, type Theme } from '../plot/colour.js';
import type { Ink } from '../plot/scene.js';

const names: readonly Ink[] = ['ink', 'quiet', 'paper', 'field', 'line', 'accent'];

const variables = (theme: Theme): string =>
  names.map((name) => `--${name}:var(--superpose-${name},${inks[theme][name]})`).join(';');

/** An ink as #rrggbb: the page's, if that is opaque and a canvas writes it so, otherwise the theme's. */
function pageInk(context: CanvasRenderingContext2D, ink: Ink, theme: Theme): string {
  const themeInk = inks[theme][ink];
  if (!names.includes(ink)) return themeInk;
  // If the page's value is not a colour, the theme's stays.
  context.fillStyle = themeInk;
  context.fillStyle = getComputedStyle(context.canvas).getPropertyValue(`--${ink}`).trim();
  return /^#.{6}$/.test(context.fillStyle) ? context.fillStyle : themeInk;
}

/** Unsets in print the height that a snippet reserves, which includes the inputs: these are not printed. */
const onPaper = '@media print{:host{min-height:0!important}}';

/** Lets the page set colours. Call it before the element is defined. */
export function usePageStyles(): void {
  const dark = variables('dark');
  elementStyles.push(
    unsafeCSS(
      `img{max-width:100%}${onPaper}.root{${variables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${dark}}}.root[data-theme=dark]{${dark}}`,
    ),
  );
  canvasInks.of = pageInk;
}
