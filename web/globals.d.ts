/** From package.json, put in by the build. */
declare const __SUPERPOSE_VERSION__: string;
/**
 * The folder of the model's files, with a slash at its end: absolute, or relative to the site's. Empty if the
 * site names none.
 */
declare const __SUPERPOSE_MODEL__: string;
/** By a page's folder, relative to the site's: the ids and figures that no other page has. */
declare const __SUPERPOSE_PLACES__: Record<string, string>;

/** As far as it is used; the compiler's list of what a page has does not know it yet. */
declare const trustedTypes:
  | {
      createPolicy(
        name: string,
        rules: { createScriptURL(address: string): string },
      ): { createScriptURL(address: string): object };
    }
  | undefined;
