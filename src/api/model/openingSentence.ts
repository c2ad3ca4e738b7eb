// What the opening shows, for what reads its file and what makes it.

/** The sentence. */
export const openingText = 'The river bank was closed, so she walked to the other bank.';
/** The heads: the first reads places, the second words. */
export const openingHeads: readonly number[] = [2, 1];
export const openingFile = 'opening.safetensors';
