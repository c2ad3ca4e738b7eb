// What ends the declarations of the module: EmbindModule stands above this.
declare module '../../src/api/module.js' {
  interface RawModule extends EmbindModule {}
}
