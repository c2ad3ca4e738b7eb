// Values that vitest.config.ts passes to the tests.
import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** False only when the model's files are missing and CI is not true. */
    withModel: boolean;
  }
}
