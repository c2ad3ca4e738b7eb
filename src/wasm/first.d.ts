// What ends the declarations of the first module: EmbindModule stands above this.
declare module '../../src/api/module.js' {
  interface RawFirst extends EmbindModule {}
}
