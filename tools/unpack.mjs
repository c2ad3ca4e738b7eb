// Unpacks downloads for the build into the user's cache folder: nothing is installed on the host and no root
// is needed.
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { debianMirror } from './apt.mjs';
import { withLock } from './lock.mjs';
import { makeFolder, step } from './steps.mjs';

/** The folder of unpacked packages, which every clone shares. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'superpose');
}

/**
 * Returns the folder `name` in the cache. If it is missing, `fill(folder, mirror, run)` fills it from the
 * host's mirror and tests it; `run` is that of the step. The folder gets its name only when it is complete;
 * one that is half-finished has another name and is removed. `instead` tells the user what to do without it.
 */
export async function unpacked({ name, what, instead, fill }) {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  makeFolder(cacheFolder(), 'Make it writable, or name another place with XDG_CACHE_HOME');
  await withLock(join(cacheFolder(), `${name}.lock`), what, async () => {
    // Another run may have unpacked it while this one waited for the lock.
    if (existsSync(folder)) return;
    const mirror = debianMirror(instead);
    clearHalfFinished(name);
    await step(`Unpack ${what}`, { byHand: `${tryAgain(folder)} Or without it: ${instead}` }, async (run) => {
      const half = mkdtempSync(`${folder}.half-`);
      chmodSync(half, 0o755);
      try {
        await fill(half, mirror, run);
        renameSync(half, folder);
      } catch (error) {
        remove(half);
        throw error;
      }
    });
  });
  return folder;
}

/**
 * Writes a wrapper that runs an unpacked program with the loader and the libraries that it was built for,
 * even after the folder has moved. `folder` is where they are unpacked; the other paths are relative to it.
 */
export function wrapProgram(folder, { wrapper, program, libraries = [], options = '' }) {
  const up = '/..'.repeat(wrapper.split('/').length - 1);
  // Debian 12's packages still have libraries in /lib.
  const system = ['usr/lib', 'lib'].flatMap((lib) =>
    foldersOf(join(folder, lib))
      .filter((name) => name.endsWith('-linux-gnu'))
      .map((name) => `${lib}/${name}`),
  );
  const path = [...system, ...libraries].map((library) => `$top/${library}`).join(':');
  makeFolder(dirname(join(folder, wrapper)));
  rmSync(join(folder, wrapper), { force: true });
  writeFileSync(
    join(folder, wrapper),
    `#!/bin/sh
# Runs the unpacked program with the loader and the libraries that it was built for.
top=\${0%/*}${up}
exec "$top/${findLoader(folder, system)}" --argv0 "$0" --library-path "${path}" "$top/${program}"${options} "$@"
`,
  );
  chmodSync(join(folder, wrapper), 0o755);
}

function findLoader(folder, libraries) {
  for (const library of libraries) {
    const names = readdirSync(join(folder, library));
    const name = names.find((entry) => /^ld-linux.*\.so\.\d+$/.test(entry));
    if (name) return `${library}/${name}`;
  }
  throw new Error('The unpacked packages contain no program loader (ld-linux).');
}

const foldersOf = (folder) => (existsSync(folder) ? readdirSync(folder) : []);

function clearHalfFinished(name) {
  for (const entry of readdirSync(cacheFolder())) {
    if (!entry.startsWith(`${name}.half-`)) continue;
    console.log(`Clearing away a half-finished ${entry}.`);
    remove(join(cacheFolder(), entry));
  }
}

function remove(folder) {
  // Programs of a run that was killed may still be ending in that folder.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

const tryAgain = (folder) =>
  'see that the machine reaches its Debian mirror (the proxy settings http_proxy and https_proxy ' +
  `count too) and that the disk has 3 GB free for ${folder}, then run the same command again; ` +
  `it starts ${basename(folder)} afresh.`;
