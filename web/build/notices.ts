// Writes the licence notices of what is built, for every package whose code is in the bundle and for the code
// that the WebAssembly files contain.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const modules = resolve(import.meta.dirname, '../../node_modules');
const textIn = (file: string) => readFileSync(resolve(import.meta.dirname, 'licences', file), 'utf8').trim();

/** The licence of musl, from beside musl's code in Emscripten. */
function muslText(): string {
  const { SUPERPOSE_EMSCRIPTEN: emscripten } = process.env;
  if (!emscripten) throw new Error('The licence of musl is in Emscripten: first, . build/env.sh');
  return readFileSync(join(emscripten, 'system/lib/libc/musl/COPYRIGHT'), 'utf8').trim();
}

export interface Notice {
  name: string;
  license: string;
  /** The licence itself, or the addresses of the licence and the source. */
  text: string;
  /** The address of the source, for a licence that demands it. */
  source?: string;
}

/** The code that is compiled into the .wasm files: Eigen by CMakeLists.txt, the rest by Emscripten. */
const compiled = (): Notice[] => [
  {
    name: 'Eigen 5',
    license: 'MPL-2.0',
    text: 'Used unchanged. Source and licence: https://gitlab.com/libeigen/eigen and https://mozilla.org/MPL/2.0/',
    source: 'gitlab.com/libeigen/eigen',
  },
  {
    name: 'Emscripten runtime',
    license: 'MIT',
    text: textIn('emscripten.txt'),
  },
  {
    name: 'musl',
    license: 'MIT',
    text: muslText(),
  },
  {
    name: 'LLVM libc++, libc++abi and compiler-rt',
    license: 'Apache-2.0 WITH LLVM-exception',
    text: 'https://llvm.org/LICENSE.txt',
  },
];

/**
 * The notice of the files in model/. The package that the files come from has another licence for its code.
 */
const model = (): Notice => ({
  name: 'all-MiniLM-L6-v2',
  license: 'Apache-2.0',
  text: `${textIn('all-MiniLM-L6-v2.txt')}\n\n${textIn('Apache-2.0.txt')}`,
});

/** Returns the notice of an installed package, with the text of its licence. */
export function noticeOf(packageName: string): Notice {
  const folder = join(modules, packageName);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'No licence text is in the package.';
  return { name: `${packageName} ${version}`, license, text };
}

/** Returns the name of the package that a module belongs to; empty for our own. */
const packageOf = (id: string): string => id.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? '';

/** Collects packages from every build that uses its plugin, workers included; `write` writes the file. */
export function noticeCollector() {
  const packages = new Set<string>();
  return {
    plugin: (): Plugin => ({
      name: 'notices',
      generateBundle(_, bundle) {
        for (const output of Object.values(bundle)) {
          if (output.type !== 'chunk') continue;
          for (const name of output.moduleIds.map(packageOf))
            if (name && existsSync(join(modules, name, 'package.json'))) packages.add(name);
        }
      },
    }),
    /** Writes the file, with the notice of the model's files if `withModel` says so. */
    write(file: string, { others = [], withModel = false }: NoticeOptions = {}): void {
      const notices = [...new Set([...packages, ...others])].sort().map(noticeOf);
      mkdirSync(dirname(file), { recursive: true });
      const sections = [...compiled(), ...(withModel ? [model()] : []), ...notices].map(
        ({ name, license, text }) => `${name}\nLicence: ${license}\n\n${text}\n`,
      );
      writeFileSync(
        file,
        `Superpose is MIT-licensed. It contains code of others:\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`,
      );
    },
    /** Returns owners and licences in one line, for a file that is passed on without the texts. */
    line(): string {
      const part = ({ name, license, text, source }: Notice) =>
        [name, holderIn(text), license, source].filter(Boolean).join(', ');
      return `${[...compiled(), ...[...packages].sort().map(noticeOf)].map(part).join('; ')}; and, where there are sentences, ${part(model())}`;
    },
  };
}

interface NoticeOptions {
  others?: readonly string[];
  withModel?: boolean;
}

/** Returns the copyright line of a licence; empty if it has none. */
const holderIn = (text: string): string =>
  text.match(/^Copyright (?:\(c\)|©)? ?\d{4}.*$/im)?.[0].replace(/\.? All rights reserved\.?/i, '') ?? '';
