// What figures open with, by the names of its files: runs of small models that were trained beforehand, and what
// MiniLM's layers make of a sentence.
const files: Record<string, () => Promise<{ default: unknown }>> = {
  lookup: () => import('../figures/recorded/lookup.json'),
  roll: () => import('../figures/recorded/roll.json'),
  badge: () => import('../figures/recorded/badge.json'),
  prev: () => import('../figures/recorded/prev.json'),
  language: () => import('../figures/recorded/language.json'),
  lookupSeparate: () => import('../figures/recorded/lookupSeparate.json'),
  rollSeparate: () => import('../figures/recorded/rollSeparate.json'),
  badgeSeparate: () => import('../figures/recorded/badgeSeparate.json'),
  prevSeparate: () => import('../figures/recorded/prevSeparate.json'),
  runs: () => import('../figures/recorded/runs.json'),
  keepApart: () => import('../figures/recorded/keepApart.json'),
  fourTasks: () => import('../figures/recorded/fourTasks.json'),
  depth: () => import('../figures/recorded/depth.json'),
  needsPositions: () => import('../figures/recorded/needsPositions.json'),
};

export const recorded = async (name: string): Promise<unknown> => (await files[name]?.())?.default;
