// Opens a model of the user's, by the options that say what its files do not.
import { FamilyUnknown, load, type OpenedModel, openModel } from 'add-or-concatenate';
import { numberOf, Refusal } from './options.js';

/** Options that opening a model may need. */
export const openOptions = {
  family: { type: 'string' },
  heads: { type: 'string' },
  epsilon: { type: 'string' },
} as const;

/** Their values on the command line. */
export interface OpenValues {
  family?: string | undefined;
  heads?: string | undefined;
  epsilon?: string | undefined;
}

/** Opens the model at a path. Throws RangeError if something is wrong with it. */
export async function openUserModel(
  path: string,
  { family, heads, epsilon }: OpenValues,
): Promise<OpenedModel> {
  return openModel(await load(), path, {
    ...(family !== undefined && { family: family as OpenedModel['family'] }),
    ...(heads !== undefined && { heads: numberOf('--heads', heads) }),
    ...(epsilon !== undefined && { epsilon: numberOf('--epsilon', epsilon) }),
  }).catch((error: unknown) => {
    if (!(error instanceof FamilyUnknown)) throw error;
    throw new Refusal(`${error.message.replace(/\.$/, '')}, as --family ${error.families[0]} does.`);
  });
}
