// The typed API is composed of factories, one per file: each takes a started module and returns the
// functions of its file. Those of fullModule.ts may call the functions of smallModule.ts.

// biome-ignore lint/suspicious/noExplicitAny: of any arguments
type Factory = (...input: any[]) => object;
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** The functions of all these factories together. */
export type FunctionsOf<Factories extends readonly Factory[]> = Intersection<ReturnType<Factories[number]>>;

/** Calls all factories with a started module. */
export const functionsOf = <Factories extends readonly Factory[]>(
  factories: Factories,
  ...input: Parameters<Factories[number]>
): FunctionsOf<Factories> => Object.assign({}, ...factories.map((factory) => factory(...input)));
