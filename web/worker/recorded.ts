// Recorded data that figures open with, by the names of their files: runs of small models that were trained
// beforehand, and a sentence in MiniLM's layers. Each file is loaded when a figure asks for it.
const files = import.meta.glob<{ default: unknown }>('../figures/recorded/*.json');

export const recorded = async (name: string): Promise<unknown> =>
  (await files[`../figures/recorded/${name}.json`]?.())?.default;
