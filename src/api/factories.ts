// The typed API is made of factories: each takes a started module and returns the functions of one file.
// Those of whole.ts may call the functions of small.ts.

// biome-ignore lint/suspicious/noExplicitAny: of any arguments
type Factory = (...given: any[]) => object;
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** All functions that these factories give. */
export type Made<Factories extends readonly Factory[]> = Together<ReturnType<Factories[number]>>;

/** The functions of all factories, over a started module. */
export const made = <Factories extends readonly Factory[]>(
  factories: Factories,
  ...given: Parameters<Factories[number]>
): Made<Factories> => Object.assign({}, ...factories.map((factory) => factory(...given)));
