// What the page's author has mistyped is named in the console, each once: an attribute that no figure reads, a setting that
// `keep` does not find, a value that cannot be used.
import { unknownName } from '../../src/api/unknown.js';
import { attributeOf } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';

/** Those of every figure. */
const common = ['name', 'theme', 'keep', 'group'];
/** Those that an element has without a property of the same name, and what marks up meaning (RDFa, microdata). */
const usual =
  /^(class|is|xmlns|exportparts|nonce|popover|autocorrect|writingsuggestions|item(id|prop|ref|scope|type)|about|content|datatype|inlist|prefix|property|rel|resource|rev|typeof|vocab)$/;

/** No setting has a hyphen, a point or a colon in its attribute: those are frameworks’. */
function isForeign(attribute: string, element: Element): boolean {
  if (/\W/.test(attribute) || /^(_|on)/.test(attribute) || usual.test(attribute)) return true;
  for (const property in element) if (property.toLowerCase() === attribute) return true;
  return false;
}

const told = new Set<string>();

/** Says a sentence to the page's author, once. */
export function warnOnce(figure: string, sentence: string): void {
  const text = `Superpose, figure ${figure}: ${sentence}`;
  if (told.has(text)) return;
  told.add(text);
  console.warn(text);
}

export function nameUnknown(element: Element, { name, controls }: AnyFigure): void {
  const settings = Object.keys(controls);
  const known = [...common, ...settings.map(attributeOf)];
  for (const { name: attribute } of [...element.attributes]) {
    if (known.includes(attribute) || isForeign(attribute, element)) continue;
    warnOnce(name, unknownName('attribute', attribute, known));
  }
  for (const setting of element.getAttribute('keep')?.match(/\S+/g) ?? []) {
    if (!settings.includes(setting)) warnOnce(name, unknownName('setting', setting, settings, 'keep'));
  }
}
