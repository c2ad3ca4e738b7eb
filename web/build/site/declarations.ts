// Reads what the package exports, with its documentation, from the declarations that the compiler wrote:
// functions in groups, each with the types that it takes and returns. TypeScript 7 has no stable interface to
// its parser, so TypeScript 5.2 reads them, the oldest that the types are tested with.
import { resolve } from 'node:path';
import ts from 'typescript-5.2';

const folder = resolve(import.meta.dirname, '../../../build/package');

/** A property of a type. */
export interface Member {
  name: string;
  optional: boolean;
  /** Its type, or the signature of a method. */
  code: string;
  doc: string;
}

export interface DeclaredType {
  name: string;
  /** Its name, with its parameters if it has some. */
  title: string;
  doc: string;
  /** The types after `extends`. */
  heritage: readonly string[];
  /** What an alias stands for; empty for an interface. */
  code: string;
  members: readonly Member[];
}

/** Something to call or to use, by its own name or as a member of an object. */
export interface Entry {
  /** Its anchor, such as dotProducts or OpenedModel.forward. */
  id: string;
  name: string;
  kind: 'export' | 'function' | 'method' | 'constant' | 'type';
  /** The tag @category; for a method, that of the function that returns its object. */
  group: string;
  doc: string;
  /** Whether the small module has it too. */
  inSmall?: boolean;
  /** A line for each way to call it. */
  signatures: readonly string[];
  /** The types that the reference lists beside the entry. */
  types: readonly DeclaredType[];
}

export interface Declarations {
  entries: readonly Entry[];
  /** Types that a caller can import. */
  exported: readonly string[];
  /** Types that a signature names, or that a type in a signature names. */
  needed: readonly string[];
}

/** An entry before the types beside it are known, with the parts of its declaration that may name types. */
interface DeclaredEntry extends Omit<Entry, 'types'> {
  nodes: readonly ts.Node[];
}

const tagOf = (node: ts.Node): string | undefined => {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'category');
  return tag && ts.getTextOfJSDocComment(tag.comment);
};

const docOf = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join('\n\n');

const isHandle = (node: ts.Node): node is ts.InterfaceDeclaration =>
  ts.isInterfaceDeclaration(node) && node.members.some(ts.isMethodSignature);

const titleOf = ({ name }: ts.Symbol, node: ts.Node) =>
  ts.isInterfaceDeclaration(node) && node.typeParameters
    ? `${name}<${node.typeParameters.map((parameter) => parameter.getText()).join(', ')}>`
    : name;

const lowered = (name: string) =>
  name.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (start) => start.toLowerCase());

class Reader {
  private readonly program = ts.createProgram([resolve(folder, 'index.d.ts')], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts'],
    types: [],
  });
  readonly checker = this.program.getTypeChecker();

  private resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** What a program can import, except values that `export type *` exports only as types. */
  exports(): ts.Symbol[] {
    const index = this.program.getSourceFile(resolve(folder, 'index.d.ts'));
    const module = index && this.checker.getSymbolAtLocation(index);
    if (!module) throw new Error('build/package/index.d.ts is missing. Run `npm run build`.');
    const importable = new Set(
      index.statements
        .filter(ts.isExportDeclaration)
        .flatMap(({ exportClause }) =>
          exportClause && ts.isNamedExports(exportClause) ? exportClause.elements : [],
        )
        .map((element) => this.resolved(this.checker.getSymbolAtLocation(element.name) as ts.Symbol)),
    );
    return this.checker
      .getExportsOfModule(module)
      .map((symbol) => this.resolved(symbol))
      .filter((symbol) => importable.has(symbol) || !(symbol.flags & ts.SymbolFlags.Value));
  }

  /** The types of the package that a node names, in order. */
  references(node: ts.Node): ts.Symbol[] {
    const symbols = new Set<ts.Symbol>();
    const visit = (part: ts.Node) => {
      const name = ts.isTypeReferenceNode(part)
        ? part.typeName
        : ts.isExpressionWithTypeArguments(part)
          ? part.expression
          : undefined;
      const symbol = name && this.checker.getSymbolAtLocation(name);
      if (symbol) {
        const target = this.resolved(symbol);
        const declared = target.declarations?.[0];
        if (
          declared?.getSourceFile().fileName.startsWith(folder) &&
          !ts.isTypeParameterDeclaration(declared) &&
          !ts.isTypeQueryNode(part)
        )
          symbols.add(target);
      }
      ts.forEachChild(part, visit);
    };
    visit(node);
    return [...symbols];
  }

  /** A type as written, except what only the compiler can resolve, such as (typeof names)[number]. */
  typeText(node: ts.TypeNode | undefined): string {
    if (!node) return '';
    const text = node.getText();
    if (!/\btypeof\b/.test(text)) return withoutComments(text);
    const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
    return this.checker
      .typeToString(this.checker.getTypeFromTypeNode(node), undefined, flags)
      .replaceAll('"', "'");
  }

  /** A call as a caller writes it. */
  signature(prefix: string, name: string, { parameters, type }: ts.SignatureDeclarationBase): string {
    const declared = parameters.map((parameter) => {
      const optional = parameter.questionToken || parameter.initializer ? '?' : '';
      return `${parameter.name.getText()}${optional}: ${this.typeText(parameter.type)}`;
    });
    return `${prefix}${name}(${declared.join(', ')}): ${this.typeText(type)}`;
  }

  typeOf(symbol: ts.Symbol): DeclaredType {
    const node = symbol.declarations?.[0];
    if (!node) throw new Error(`The type ${symbol.name} has no declaration.`);
    const type: DeclaredType = {
      name: symbol.name,
      title: titleOf(symbol, node),
      doc: docOf(node),
      heritage: [],
      code: '',
      members: [],
    };
    if (ts.isTypeAliasDeclaration(node)) return { ...type, code: this.typeText(node.type) };
    if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return type;
    return {
      ...type,
      heritage: (node.heritageClauses ?? []).flatMap(({ types }) =>
        types.map((base) => base.getText()).filter((base) => !base.includes('typeof')),
      ),
      members: [...node.members].flatMap((member) => this.memberOf(member)),
    };
  }

  private memberOf(node: ts.TypeElement | ts.ClassElement): Member[] {
    if (!node.name) return [];
    const name = node.name.getText();
    if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) {
      const optional = node.questionToken !== undefined;
      return [{ name, optional, code: this.typeText(node.type), doc: docOf(node) }];
    }
    if (!ts.isMethodSignature(node)) return [];
    return [{ name, optional: false, code: this.signature('', name, node), doc: docOf(node) }];
  }
}

const withoutComments = (text: string) =>
  text
    .replace(/\/\*\*[\s\S]*?\*\/\s*/g, '')
    .replace(/;\s*}/g, ' }')
    .replace(/\s+/g, ' ');

/** Functions, classes and constants that the package exports, and types that stand by themselves. */
function exportedEntries(reader: Reader, symbols: readonly ts.Symbol[]): DeclaredEntry[] {
  return symbols.flatMap((symbol): DeclaredEntry[] => {
    // The last overload is the general one, as ReturnType assumes, too.
    const nodes = [...(symbol.declarations ?? [])].reverse();
    const [first] = nodes;
    if (!first) return [];
    const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0;
    const group = tagOf(first);
    if (!isValue && group === undefined) return [];
    const { name } = symbol;
    const entry = {
      id: name,
      name,
      group: group ?? '',
      doc: nodes.map(docOf).filter(Boolean).join('\n\n'),
      nodes,
    };
    const functions = nodes.filter(ts.isFunctionDeclaration);
    const variable = ts.isVariableDeclaration(first) ? first : undefined;
    const call = variable?.type && ts.isFunctionTypeNode(variable.type) ? variable.type : undefined;
    if (functions.length > 0 || call) {
      const signatures = [...functions, ...(call ? [call] : [])].map((node) =>
        reader.signature('', name, node),
      );
      return [{ ...entry, kind: 'export', signatures }];
    }
    if (variable)
      return [{ ...entry, kind: 'constant', signatures: [`${name}: ${reader.typeText(variable.type)}`] }];
    return [{ ...entry, kind: 'type', signatures: [] }];
  });
}

/** The functions and properties of what load() returns. */
function libraryEntries(reader: Reader, library: ReadonlySet<ts.Symbol>): DeclaredEntry[] {
  const [members = [], small = []] = [...library].map((symbol) =>
    reader.checker.getPropertiesOfType(reader.checker.getDeclaredTypeOfSymbol(symbol)),
  );
  const inSmall = new Set(small.map(({ name }) => name));
  return members.flatMap((symbol): DeclaredEntry[] => {
    const [node] = symbol.declarations ?? [];
    if (!node || !(ts.isMethodSignature(node) || ts.isPropertySignature(node))) return [];
    const { name } = symbol;
    const group = tagOf(node) ?? tagOf(node.parent) ?? '';
    const signature = ts.isMethodSignature(node)
      ? reader.signature('superpose.', name, node)
      : `superpose.${name}: ${reader.typeText(node.type)}`;
    const entry = { id: name, name, group, doc: docOf(node), nodes: [node] };
    return [{ ...entry, kind: 'function', inSmall: inSmall.has(name), signatures: [signature] }];
  });
}

/** The methods of an interface, except inherited ones whose types it only narrows. */
function methodsOf(reader: Reader, symbol: ts.Symbol, group: string): DeclaredEntry[] {
  const node = symbol.declarations?.find(isHandle);
  if (!node) return [];
  const inherited = new Set(
    (reader.checker.getDeclaredTypeOfSymbol(symbol).getBaseTypes() ?? []).flatMap((base) =>
      reader.checker.getPropertiesOfType(base).map(({ name }) => name),
    ),
  );
  return node.members.filter(ts.isMethodSignature).flatMap((method): DeclaredEntry[] => {
    const name = method.name.getText();
    if (inherited.has(name)) return [];
    const signatures = [reader.signature(`${lowered(symbol.name)}.`, name, method)];
    const id = `${symbol.name}.${name}`;
    return [{ id, name, kind: 'method', group, doc: docOf(method), signatures, nodes: [method] }];
  });
}

const resultOf = (node: ts.Node): ts.Node | undefined =>
  ts.isFunctionLike(node)
    ? node.type
    : ts.isVariableDeclaration(node) && node.type
      ? resultOf(node.type)
      : undefined;

/** Puts the methods of an object after the first function that returns the object. */
function withMethods(
  reader: Reader,
  declaredEntries: readonly DeclaredEntry[],
  elsewhere: ReadonlySet<ts.Symbol>,
): DeclaredEntry[] {
  const seen = new Set<ts.Symbol>(elsewhere);
  const expand = (entry: DeclaredEntry): DeclaredEntry[] => {
    const objects = entry.nodes.flatMap((node) => {
      const result = resultOf(node);
      return result ? reader.references(result) : [];
    });
    const bases = (symbol: ts.Symbol): ts.Symbol[] => {
      const node = symbol.declarations?.find(ts.isInterfaceDeclaration);
      const clauses = node?.heritageClauses ?? [];
      return [symbol, ...clauses.flatMap((clause) => reader.references(clause)).flatMap(bases)];
    };
    const handles = objects
      .flatMap(bases)
      .filter((symbol) => !seen.has(symbol) && symbol.declarations?.some(isHandle));
    for (const symbol of handles) seen.add(symbol);
    return [
      entry,
      ...[...new Set(handles)].flatMap((symbol) => methodsOf(reader, symbol, entry.group)).flatMap(expand),
    ];
  };
  const expanded = declaredEntries.flatMap(expand);
  // In each group the functions come first, then the methods of what they return.
  const inGroup = (group: string) => expanded.filter((entry) => entry.group === group);
  return [...new Set(expanded.map(({ group }) => group))].flatMap((group) => [
    ...inGroup(group).filter(({ kind }) => kind !== 'method'),
    ...inGroup(group).filter(({ kind }) => kind === 'method'),
  ]);
}

/** The parts of a declaration that name types; without an object's methods, which are entries themselves. */
const partsOf = (node: ts.Node): ts.Node[] =>
  isHandle(node)
    ? [...(node.heritageClauses ?? []), ...node.members.filter((member) => !ts.isMethodSignature(member))]
    : [node];

/**
 * Puts every type beside the first entry whose signature names the type, or else beside the entry that has a
 * type which names it. Types in `elsewhere` are entries themselves.
 */
function typesBeside(
  reader: Reader,
  entries: readonly DeclaredEntry[],
  elsewhere: ReadonlySet<ts.Symbol>,
  library: ReadonlySet<string>,
) {
  const beside = new Map(entries.map((entry) => [entry, [] as ts.Symbol[]]));
  const needed = new Set<ts.Symbol>();
  // The type that load() returns names every function, so it would take all types.
  let round = entries.map((entry) => ({
    entry,
    nodes: library.has(entry.id) ? [] : entry.nodes.flatMap(partsOf),
  }));
  while (round.length > 0) {
    round = round.flatMap(({ entry, nodes }) => {
      const named = [...new Set(nodes.flatMap((node) => reader.references(node)))].filter(
        ({ name }) => !library.has(name),
      );
      const added = named.filter((symbol) => !needed.has(symbol));
      for (const symbol of added) needed.add(symbol);
      beside.get(entry)?.push(...added.filter((symbol) => !elsewhere.has(symbol)));
      const below = added.flatMap(({ declarations = [] }) => declarations.flatMap(partsOf));
      return below.length > 0 ? [{ entry, nodes: below }] : [];
    });
  }
  return { beside, needed };
}

const kinds: readonly Entry['kind'][] = ['export', 'function', 'constant', 'type'];

/** Returns what index.d.ts exports, in the order of these groups. */
export function declarations(groups: readonly string[]): Declarations {
  const reader = new Reader();
  const symbols = reader.exports();
  const named = (name: string) => {
    const symbol = symbols.find((exported) => exported.name === name);
    if (!symbol) throw new Error(`The package does not export ${name}.`);
    return symbol;
  };
  const library = new Set([named('Superpose'), named('SmallSuperpose')]);
  const declaredEntries = [...exportedEntries(reader, symbols), ...libraryEntries(reader, library)];
  for (const { id, group } of declaredEntries)
    if (!groups.includes(group))
      throw new Error(`${id} is in no group of the reference. Give it an @category: ${groups.join(', ')}.`);
  // Array.sort is stable: entries of the same group and kind keep the order of the declarations.
  const sorted = declaredEntries.sort(
    (first, second) =>
      groups.indexOf(first.group) - groups.indexOf(second.group) ||
      kinds.indexOf(first.kind) - kinds.indexOf(second.kind),
  );
  const isType = (name: string) => declaredEntries.some(({ id, kind }) => id === name && kind === 'type');
  const standing = new Set(symbols.filter(({ name }) => isType(name)));
  const entries = withMethods(reader, sorted, new Set([...standing, ...library]));
  const { beside, needed } = typesBeside(
    reader,
    entries,
    standing,
    new Set([...library].map(({ name }) => name)),
  );
  const typesOf = (entry: DeclaredEntry) => [
    ...(entry.kind === 'type' ? [named(entry.id)] : []),
    ...(beside.get(entry) ?? []),
  ];
  return {
    entries: entries.map((entry) => {
      const { nodes, ...rest } = entry;
      return { ...rest, types: typesOf(entry).map((symbol) => reader.typeOf(symbol)) };
    }),
    exported: symbols.filter(({ flags }) => !(flags & ts.SymbolFlags.Value)).map(({ name }) => name),
    needed: [...needed].map(({ name }) => name),
  };
}
