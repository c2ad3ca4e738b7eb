// What ends the declarations of the module: EmbindModule stands above this.
// biome-ignore lint/correctness/noUnusedImports: what stands above takes it.
import type { Table } from '../../src/api/table.js';

declare module '../../src/api/module.js' {
  interface RawModule extends EmbindModule {}
}
