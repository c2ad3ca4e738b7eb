// Node's loader for tools/ways.mjs: runs the sources of the command as they are, and writes down which were loaded.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { root } from './steps.mjs';

export function resolve(specifier, context, next) {
  if (specifier === 'superpose')
    return next(pathToFileURL(join(root, 'build/package/index.js')).href, context);
  if (!/^[./]/.test(specifier) || !context.parentURL?.startsWith('file:')) return next(specifier, context);
  const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
  return next(existsSync(source) ? source.href : specifier, context);
}

export function load(url, context, next) {
  if (url.startsWith(pathToFileURL(root).href)) appendFileSync(process.env.SUPERPOSE_WAYS, `${url}\n`);
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), { loader: 'ts', format: 'esm' });
  return { format: 'module', source: code, shortCircuit: true };
}
