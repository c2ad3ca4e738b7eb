/** From package.json, put in by the build. */
declare const __SUPERPOSE_VERSION__: string;
