// What a browser's translator leaves of a template: each text replaced by <font> elements, which lit knows nothing of.
// Its next text would go to the node that was taken out.

/** Puts text back where a translator has put elements, translated as it is, so that what changes can be written again. */
export function untranslate(root: DocumentFragment | Element): void {
  for (const font of root.querySelectorAll('font')) font.replaceWith(font.textContent as string);
}
