// Warnings in the console about what the page's author has mistyped, each once: an attribute that no figure
// reads, a setting in `keep` that does not exist, a value that cannot be used.
import { unknownName } from '../../src/api/unknownName.js';
import { attributeOf } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';

/** Attributes of every figure. */
const common = ['name', 'theme', 'keep', 'group'];
/**
 * Attributes that any element may have without a property of the same name, such as those of RDFa and
 * microdata.
 */
const ofAnyElement =
  /^(class|is|xmlns|exportparts|nonce|popover|autocorrect|writingsuggestions|item(id|prop|ref|scope|type)|about|content|datatype|inlist|prefix|property|rel|resource|rev|typeof|vocab)$/;

/**
 * Whether an attribute is not meant for the figure. Hyphens, dots and colons belong to frameworks: no setting
 * has them.
 */
function isForeign(attribute: string, element: Element): boolean {
  if (/\W/.test(attribute) || /^(_|on)/.test(attribute) || ofAnyElement.test(attribute)) return true;
  for (const property in element) if (property.toLowerCase() === attribute) return true;
  return false;
}

const warnings = new Set<string>();

/** Writes a sentence for the page's author to the console, once. */
export function warnOnce(figure: string, sentence: string): void {
  const text = `Superpose, figure ${figure}: ${sentence}`;
  if (warnings.has(text)) return;
  warnings.add(text);
  console.warn(text);
}

/** Warns of attributes and names in `keep` that the figure does not know. */
export function warnOfUnknown(element: Element, { name, controls }: AnyFigure): void {
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
