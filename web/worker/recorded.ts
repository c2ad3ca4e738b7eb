// What figures open with, by the names of its files: runs of small models that were trained beforehand, and what
// MiniLM's layers make of a sentence. Each is loaded when it is asked for.
const files = import.meta.glob<{ default: unknown }>('../figures/recorded/*.json');

export const recorded = async (name: string): Promise<unknown> =>
  (await files[`../figures/recorded/${name}.json`]?.())?.default;
