// Attributes that no figure reads are named in the console, each once: a mistyped setting would leave the figure in its
// first view without a word.
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

export function nameUnknown(element: Element, { name, controls }: AnyFigure): void {
  const known = [...common, ...Object.keys(controls).map(attributeOf)];
  for (const { name: attribute } of [...element.attributes]) {
    const once = `${name} ${attribute}`;
    if (known.includes(attribute) || told.has(once) || isForeign(attribute, element)) continue;
    told.add(once);
    console.warn(`Superpose, figure ${name}: ${unknownName('attribute', attribute, known)}`);
  }
}
