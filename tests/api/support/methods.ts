// The functions of an object that the library gives.

// biome-ignore lint/suspicious/noExplicitAny: of any arguments
type Call = (...args: unknown[]) => any;

/** The functions of an object and of its class. */
// biome-ignore lint/suspicious/noExplicitAny: of any kind
export const methodsOf = (of: any): [string, Call][] => {
  const above = Object.getPrototypeOf(of);
  const all = [of, ...(above && above !== Object.prototype ? [above] : [])];
  const names = all.flatMap((object) => Object.getOwnPropertyNames(object));
  const methods = new Set(names.filter((name) => name !== 'constructor' && name !== 'delete'));
  return [...methods].flatMap((name) => (typeof of[name] === 'function' ? [[name, of[name].bind(of)]] : []));
};
