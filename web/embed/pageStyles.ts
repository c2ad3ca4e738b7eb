// Styles that figures have on other people's pages alone. Their page can set colours that stand for no term, as
// --superpose-NAME.
import { unsafeCSS } from 'lit';
import { elementStyles } from '../element/surroundings.js';
import { canvasInks } from '../plot/canvas.js';
import { inks, type Theme } from '../plot/colour.js';
import type { Ink } from '../plot/scene.js';

const names: readonly Ink[] = ['ink', 'quiet', 'paper', 'field', 'line', 'accent'];

const variables = (theme: Theme): string =>
  names.map((name) => `--${name}:var(--superpose-${name},${inks[theme][name]})`).join(';');

/** An ink as #rrggbb: the page's, if it has set one that is opaque and that a canvas writes so, else the theme's. */
function pageInk(context: CanvasRenderingContext2D, ink: Ink, theme: Theme): string {
  const usual = inks[theme][ink];
  if (!names.includes(ink)) return usual;
  // A value that is no colour leaves the one before it.
  context.fillStyle = usual;
  context.fillStyle = getComputedStyle(context.canvas).getPropertyValue(`--${ink}`).trim();
  return /^#.{6}$/.test(context.fillStyle) ? context.fillStyle : usual;
}

/** A snippet reserves the height with inputs, which paper does not have. */
const onPaper = '@media print{:host{min-height:0!important}}';

/** To be called before the element is defined. */
export function takePageStyles(): void {
  const dark = variables('dark');
  elementStyles.push(
    unsafeCSS(
      `img{max-width:100%}${onPaper}.root{${variables('light')}}@media (prefers-color-scheme: dark){.root:not([data-theme=light]){${dark}}}.root[data-theme=dark]{${dark}}`,
    ),
  );
  canvasInks.of = pageInk;
}
