// What figures open with, by the names of its files: runs of small models that were trained beforehand, and what
// MiniLM's layers make of a sentence.
const files: Record<string, () => Promise<{ default: unknown }>> = {
  lookup: () => import('../figures/recorded/lookup.json'),
  roll: () => import('../figures/recorded/roll.json'),
  badge: () => import('../figures/recorded/badge.json'),
  prev: () => import('../figures/recorded/prev.json'),
  schemesTasks: () => import('../figures/recorded/schemesTasks.json'),
  language: () => import('../figures/recorded/language.json'),
  narrow: () => import('../figures/recorded/narrow.json'),
  depth: () => import('../figures/recorded/depth.json'),
  needsPositions: () => import('../figures/recorded/needsPositions.json'),
};

export const recorded = async (name: string): Promise<unknown> => (await files[name]?.())?.default;
