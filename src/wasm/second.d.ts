// What ends the declarations of the second module: EmbindModule stands above this.
declare module '../../src/api/module.js' {
  interface RawSecond extends EmbindModule {}
}
