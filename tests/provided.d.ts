// What vitest.config.ts hands to the tests.
import 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** False only when the model's files are missing and nobody insists on them (CI=true). */
    withModel: boolean;
  }
}
