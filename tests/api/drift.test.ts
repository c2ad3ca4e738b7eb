// Facts that are written down in two places must not drift apart.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const files = (folder: string, ending: string) =>
  readdirSync(new URL(folder, root), { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith(ending),
  );
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => match[1] as string);

describe('the bindings and the typed API', () => {
  const api = files('src/api/', '.ts')
    .map((name) => read(`src/api/${name}`))
    .join('\n');
  const declared = read('build/declarations/raw.d.ts').replace(/\/\/.*/g, '');

  test('every argument and result of a binding has a type', () => {
    expect(declared).toContain('gram(_0: Table): Float64Array;');
    expect(declared).not.toMatch(/\bany\b/);
  });

  test('every member that a binding reads or gives is one of the API’s', () => {
    const members = new Set(matches(declared, /\b(\w+)\??: /g).filter((name) => !name.startsWith('_')));
    // A name may occur in a type, or where a result is destructured.
    const missing = [...members].filter((name) => !new RegExp(`\\b${name}(?:'|\\?:|:|,)`).test(api));
    expect(missing).toEqual([]);
    expect(members.size).toBeGreaterThan(100);
  });

  // The names of an enumeration cross to JavaScript. The compiler checks that they are those of the types
  // there.
  test('the names of every enumeration are its values, in order', () => {
    const sources = ['src/core/', 'src/wasm/'].flatMap((folder) =>
      files(folder, '.h')
        .concat(files(folder, '.cpp'))
        .map((name) => read(`${folder}${name}`).replace(/\/\/.*/g, '')),
    );
    let count = 0;
    for (const text of sources) {
      for (const [, type = '', list = ''] of text.matchAll(/ names\(([\w:]+)\) \{\s*return \{([^}]*)\};/g)) {
        const name = type.split('::').at(-1);
        const values = text.match(new RegExp(`enum (?:class )?${name} \\{([^}]*)\\}`))?.[1] ?? '';
        const names = matches(list, /"([\w-]+)"/g).map((name) => name.replaceAll('-', '_'));
        expect(names, type).toEqual(matches(values, /(\w+)/g));
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(15);
  });

  test('the type of the trainer’s schemes has all their names', () => {
    const within = (text: string, pattern: RegExp) => text.match(pattern)?.[1] ?? '';
    const core = read('src/core/training/options.h');
    const names = matches(within(core, /names\(TrainingScheme\) \{\s*return \{([^}]*)\}/), /"([\w-]+)"/g);
    expect(names.length).toBeGreaterThan(10);
    expect(matches(within(api, /type TrainingScheme =([^;]*);/), /'([\w-]+)'/g)).toEqual(names);
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
    .flatMap((line) => matches(line, /(?:type )?(\w+)(?=,| \})/g))
    .concat(matches(read('build/package/index.d.ts'), /^export declare function (\w+)/gm));

  /** Names declared without a comment above them: functions, and members of interfaces. */
  function undocumented(text: string): string[] {
    const lines = text.split('\n');
    let inside = '';
    return lines.flatMap((line, at) => {
      inside = line.match(/^(?:export )?interface (\w+)/)?.[1] ?? (line.startsWith('}') ? '' : inside);
      const member = inside && line.match(/^ {4}(?:readonly )?(\w+)[?(<:]/)?.[1];
      const name = line.match(/^export declare (?:function|const) (\w+)/)?.[1];
      const documented = member ? `${inside}.${member}` : name && exported.includes(name) ? name : undefined;
      return documented && !lines[at - 1]?.endsWith('*/') ? [documented] : [];
    });
  }

  /** The names with an underscore, which are widths as the field writes them. */
  const underscored = ['d_model', 'd_position', 'd_head', 'd_position_head', 'd_rotary', 'd_offset'];

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

  // These files have the names of a tokenizer.json.
  const named = declarations.filter((name) => !/^model\/(bert|wordPieces)\.d\.ts$/.test(name));

  test('the names of options and results are spelled by one rule', () => {
    const names = named.flatMap((name) => spelled(read(`build/package/${name}`)));
    expect(names).toEqual(expect.arrayContaining([...underscored, 'positionScale']));
    expect(names.filter(misspelled)).toEqual([]);
  });
});
