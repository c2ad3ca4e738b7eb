// Reads the members of tokenizer.json, and refuses what would be computed differently here than by the
// model's own tokenizer.

/** An object of tokenizer.json. */
export type Part = Readonly<Record<string, unknown>>;

/** The kinds of values in JSON. */
type Kinds = Record<'string', string> &
  Record<'boolean', boolean> &
  Record<'number', number> &
  Record<'list', readonly unknown[]> &
  Record<'object', Part>;

const isKind = (value: unknown, kind: keyof Kinds): boolean => {
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === kind;
};

/** A value of a kind. Throws Error, since such a file cannot be parsed. */
export function checkedKind<Kind extends keyof Kinds>(value: unknown, name: string, kind: Kind): Kinds[Kind] {
  if (!isKind(value, kind)) throw new Error(`${name} must be ${kind === 'object' ? 'an' : 'a'} ${kind}`);
  return value as Kinds[Kind];
}

/** A member of a part. Throws Error where it is missing or of another kind. */
export function member<Kind extends keyof Kinds>(part: Part, name: string, kind: Kind): Kinds[Kind] {
  const owner = typeof part.type === 'string' ? `${name} of ${part.type}` : name;
  return checkedKind(part[name], owner, kind);
}

/** A member that may be missing or null. */
export const optional = <Kind extends keyof Kinds>(part: Part, name: string, kind: Kind) =>
  part[name] === undefined || part[name] === null ? undefined : member(part, name, kind);

/** The parts in a member, each an object. */
export const parts = (part: Part, name: string): Part[] =>
  member(part, name, 'list').map((item) => checkedKind(item, `each entry of ${name}`, 'object'));

/** A list of a text and a number, as BertProcessing and Unigram have them. */
export function pair(value: unknown, name: string): [text: string, number: number] {
  const [text, number] = checkedKind(value, name, 'list');
  return [
    checkedKind(text, `the text of ${name}`, 'string'),
    checkedKind(number, `the number of ${name}`, 'number'),
  ];
}

/** Refuses what would be cut differently here than by the model's own tokenizer. */
export function refuseFile(what: string): never {
  throw new RangeError(
    `tokenizer.json asks for ${what}, which is cut differently here than by the model’s own tokenizer. Pass token ids instead.`,
  );
}

/** Functions that make a component from a part, by the part's `type`. */
export type Makers<Component> = Readonly<Record<string, (part: Part) => Component>>;

/** The component that a part describes. Throws RangeError for a type that is not supported. */
export function componentOf<Component>(kind: string, part: Part, makers: Makers<Component>): Component {
  const type = member(part, 'type', 'string');
  const make = Object.hasOwn(makers, type) ? makers[type] : undefined;
  return make ? make(part) : refuseFile(`the ${kind} ${type}`);
}
