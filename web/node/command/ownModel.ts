// A model of the user's own, as the command is told of one.
import { FamilyUnknown, load, type OpenedModel, openModel } from 'superpose';
import { numberOf, Refusal, wholeOf } from './options.js';

/** Options that opening a model may need. */
export const openOptions = {
  family: { type: 'string' },
  heads: { type: 'string' },
  epsilon: { type: 'string' },
} as const;

/** Their values, as given on the command line. */
export interface OpenGiven {
  family?: string | undefined;
  heads?: string | undefined;
  epsilon?: string | undefined;
}

/** Opens the model at a path. Throws RangeError if something is wrong with it. */
export async function opened(path: string, { family, heads, epsilon }: OpenGiven): Promise<OpenedModel> {
  return openModel(await load(), path, {
    ...(family !== undefined && { family: family as OpenedModel['family'] }),
    ...(heads !== undefined && { heads: numberOf('--heads', heads) }),
    ...(epsilon !== undefined && { epsilon: numberOf('--epsilon', epsilon) }),
  }).catch((error: unknown) => {
    if (!(error instanceof FamilyUnknown)) throw error;
    throw new Refusal(`${error.message.replace(/\.$/, '')}, as --family ${error.families[0]} does.`);
  });
}

/** Vocabulary numbers, with commas between them. */
export const idsOf = (option: string, given: string) => ({
  ids: given.split(',').map((id) => wholeOf(option, id.trim(), 0, Infinity)),
});
