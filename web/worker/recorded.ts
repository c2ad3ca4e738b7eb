// Runs of small models that were trained beforehand, by the names of their files: what figures open with.
const files: Record<string, () => Promise<{ default: unknown }>> = {
  lookup: () => import('../figures/recorded/lookup.json'),
  roll: () => import('../figures/recorded/roll.json'),
  badge: () => import('../figures/recorded/badge.json'),
  prev: () => import('../figures/recorded/prev.json'),
  schemesTasks: () => import('../figures/recorded/schemesTasks.json'),
  narrow: () => import('../figures/recorded/narrow.json'),
  longer: () => import('../figures/recorded/longer.json'),
};

export const recorded = async (name: string): Promise<unknown> => (await files[name]?.())?.default;
