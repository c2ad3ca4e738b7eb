// The typed API is made of factories: each takes a started module and returns the functions of one file.
// Factories of the second module may call the first one's functions.

// biome-ignore lint/suspicious/noExplicitAny: of any arguments
type Factory = (...modules: any[]) => object;
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All functions that these factories give. */
export type Made<Factories extends readonly Factory[]> = Together<ReturnType<Factories[number]>>;

/** The functions of all factories, over started modules. */
export const made = <Factories extends readonly Factory[]>(
  factories: Factories,
  ...modules: Parameters<Factories[number]>
): Made<Factories> => Object.assign({}, ...factories.map((factory) => factory(...modules)));
