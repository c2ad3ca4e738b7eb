// Facts that are written down in two places must not drift apart.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const files = (folder: string, ending: string) =>
  readdirSync(new URL(folder, root), { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith(ending),
  );
const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => match[1] as string);

describe('the bindings and the typed API', () => {
  const bindings = files('src/wasm/', '.cpp')
    .concat(files('src/wasm/', '.h'))
    .map((name) => read(`src/wasm/${name}`))
    .join('\n');
  const api = files('src/api/', '.ts')
    .map((name) => read(`src/api/${name}`))
    .join('\n');
  const declared = read('build/declarations/raw.d.ts');

  // Calls of any other function, or with anything else, are the compiler's to refuse.
  test('every function that a module has is called', () => {
    const names = found(declared, /^ {2}(\w+)\(/gm);
    const called = found(api, /raw\.(\w+)/g);
    expect(names.filter((name) => !called.includes(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(80);
  });

  test('every argument and result of a binding has a type', () => {
    expect(declared).toContain('gram(_0: Table): Float64Array;');
    expect(declared).not.toMatch(/\bany\b/);
  });

  test('every member that a binding reads or gives is one of the API’s', () => {
    const members = found(bindings, /^SUPERPOSE_MEMBERS\(\w+,([^)]*)\)/gm);
    const fields = found(bindings, /\["(\w+)"\]/g)
      .concat(members.flatMap((list) => list.trim().split(/,\s*/)))
      // Functions of a structure stay in the module.
      .filter((field) => !['length', 'build', 'work'].includes(field));
    // Named in a type, or taken out of what came back.
    const missing = fields.filter((field) => !new RegExp(`\\b${field}(?:'|\\?:|:|,)`).test(api));
    expect(missing).toEqual([]);
    expect(members.length).toBeGreaterThan(20);
    expect(new Set(fields).size).toBeGreaterThan(100);
  });

  test('every enumeration has its values in the order that the API numbers them in', () => {
    const fields = {
      Layout: 'layout',
      Spacing: 'spacing',
      Norm: 'kind',
      Activation: 'activation',
      GaugeKind: 'gauge',
      Table: 'table',
      Task: 'task',
      Stretch: 'way',
      Schedule: 'schedule',
    };
    const core = files('src/core/', '.h')
      .map((name) => read(`src/core/${name}`).replace(/\/\/.*/g, ''))
      .join('\n');
    for (const [name, field] of Object.entries(fields)) {
      const values = core.match(new RegExp(`enum class ${name} \\{([^}]*)\\}`))?.[1] ?? '';
      const declared = found(values, /(\w+)/g).filter((value) => value !== 'none');
      const written = `(?:placeOf\\(['\`](?:\\$\\{name\\}\\.)?${field}['\`], [^[]+, |const ${field}Names = )\\[([^\\]]*)\\]`;
      const lists = [...api.matchAll(new RegExp(written, 'g'))];
      expect(declared.length).toBeGreaterThan(1);
      expect(lists.length).toBeGreaterThan(0);
      for (const [, allowed] of lists) {
        const names = found(allowed as string, /'([\w-]+)'/g)
          .map((value) => value.replaceAll('-', '_'))
          .filter((value) => value !== 'none');
        expect(names).toEqual(declared);
      }
    }
  });

  test('the trainer’s schemes have one list of names, and types are of these', () => {
    const core = read('src/core/training/options.h').replace(/\/\/.*/g, '');
    const within = (text: string, pattern: RegExp) => text.match(pattern)?.[1] ?? '';
    const values = found(within(core, /enum class TrainingScheme \{([^}]*)\}/), /(\w+)/g);
    const names = found(within(core, /kTrainingSchemeNames = \{([^}]*)\}/), /"([\w-]+)"/g);
    expect(names.length).toBeGreaterThan(10);
    expect(names.map((name) => name.replaceAll('-', '_'))).toEqual(values);
    expect(found(within(api, /type TrainingScheme =([^;]*);/), /'([\w-]+)'/g)).toEqual(names);
  });
});

describe('the declarations are the documentation', () => {
  const declarations = files('build/package/', '.d.ts').filter(
    (name) => !/^(check|factories|files)\.|^(node|embed)\//.test(name),
  );
  /** What index.ts exports. */
  const exported = read('build/package/index.d.ts')
    .split('\n')
    .filter((line) => line.startsWith('export {') || line.startsWith('export type {'))
    .flatMap((line) => found(line, /(?:type )?(\w+)(?=,| \})/g))
    .concat(found(read('build/package/index.d.ts'), /^export declare function (\w+)/gm));

  /** Names declared without a comment above them: functions, and members of interfaces. */
  function undocumented(text: string): string[] {
    const lines = text.split('\n');
    let inside = '';
    return lines.flatMap((line, at) => {
      inside = line.match(/^(?:export )?interface (\w+)/)?.[1] ?? (line.startsWith('}') ? '' : inside);
      const member = inside && line.match(/^ {4}(?:readonly )?(\w+)[?(<:]/)?.[1];
      const name = line.match(/^export declare (?:function|const) (\w+)/)?.[1];
      const wanted = member ? `${inside}.${member}` : name && exported.includes(name) ? name : undefined;
      return wanted && !lines[at - 1]?.endsWith('*/') ? [wanted] : [];
    });
  }

  /** The names with an underscore that CONTRIBUTING.md's rule lists. */
  const underscored = found(
    (
      read('.github/CONTRIBUTING.md').match(/- Widths are spelled[\s\S]*?(?=\n-|\n\n)/) as RegExpMatchArray
    )[0],
    /\b(d_\w+|token_type)\b/g,
  );

  /** The names of members and of parameters. */
  const spelled = (text: string) =>
    text
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .match(/(?<=^ {4}(?:readonly )?)\w+(?=\??[:(<])|(?<=[(,{] ?)\w+(?=\??:)/gm) ?? [];

  /** A width is d_ and a noun from the list; everything else is camelCase. */
  const misspelled = (name: string) =>
    !underscored.includes(name) && !/^(?!d[A-Z])[a-z](?![A-Za-z]*Width$)[A-Za-z0-9]*$/.test(name);

  test.each(declarations)('%s', (name) => {
    expect(exported).toContain('load');
    expect(undocumented(read(`build/package/${name}`))).toEqual([]);
  });

  // The names in wordPieces are those of a tokenizer file.
  const named = declarations.filter((name) => name !== 'model/wordPieces.d.ts');

  test('the names of options and results are spelled by one rule', () => {
    const names = named.flatMap((name) => spelled(read(`build/package/${name}`)));
    expect(names).toEqual(expect.arrayContaining([...underscored, 'positionScale']));
    expect(names.filter(misspelled)).toEqual([]);
  });
});
