// The build appends this file to embind's declarations of the module, which declare EmbindModule.
// biome-ignore lint/correctness/noUnusedImports: embind's declarations, which come first, use Table.
import type { Table } from '../../src/api/table.js';

declare module '../../src/api/module.js' {
  interface RawModule extends EmbindModule {}
}
