// Undoes what a browser's translator does to a template: the translator replaces each text by <font>
// elements, and lit would write its next text into a node that is no longer in the page.

/** Replaces a translator's elements by their translated text, so that lit can write the next text. */
export function untranslate(root: DocumentFragment | Element): void {
  for (const font of root.querySelectorAll('font')) font.replaceWith(font.textContent as string);
}
