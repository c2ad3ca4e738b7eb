// Debian packages of another release, unpacked into the user's cache folder: nothing is installed
// on the host, nothing is run from inside, no root is needed.
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { withLock } from './lock.mjs';
import { makeFolder, step } from './steps.mjs';

// Only unpacks: "extract" stops before any package's script would be run, and "chrootless" does
// without root, mounts and device nodes.
const mmdebstrap = [
  '--mode=chrootless',
  '--variant=extract',
  '--format=directory',
  '--aptopt=APT::Install-Recommends "false"',
];

/** Where unpacked packages are kept; they survive a fresh clone. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'superpose');
}

/** Whether the folder `name` is in the cache already. */
export function isUnpacked(name) {
  return existsSync(join(cacheFolder(), name));
}

/**
 * The folder `name` in the cache, unpacked when it is not there yet. It appears under that name
 * only when it is whole; a half-finished one keeps another name and is cleared away.
 * `finish(folder, run)` may change and try it before that; `run` is that of the step.
 */
export async function unpacked({ name, what, suite, packages, options = [], finish = () => {} }) {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  makeFolder(cacheFolder(), 'Make it writable, or name another place with XDG_CACHE_HOME');
  await withLock(join(cacheFolder(), `${name}.lock`), what, async () => {
    // Another run may have unpacked it while this one waited for the lock.
    if (existsSync(folder)) return;
    clearHalfFinished(name);
    await step(`Unpack ${what}`, { byHand: byHand(folder) }, async (run) => {
      const half = mkdtempSync(`${folder}.half-`);
      // mkdtemp keeps everyone else out, and apt may download as a user of its own.
      chmodSync(half, 0o755);
      try {
        await run('mmdebstrap', [...mmdebstrap, `--include=${packages.join(',')}`, ...options, suite, half], {
          env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
        });
        await finish(half, run);
        renameSync(half, folder);
      } catch (error) {
        remove(half);
        throw error;
      }
    });
  });
  return folder;
}

function clearHalfFinished(name) {
  for (const entry of readdirSync(cacheFolder())) {
    if (!entry.startsWith(`${name}.half-`)) continue;
    console.log(`Clearing away a half-finished ${entry}.`);
    remove(join(cacheFolder(), entry));
  }
}

function remove(folder) {
  // Programs of a killed run may still be ending in there.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function byHand(folder) {
  return (
    'see that the machine reaches its Debian mirror (the proxy settings http_proxy and https_proxy ' +
    `count too) and that the disk has 3 GB free for ${folder}, then run the same command again; ` +
    `it starts ${basename(folder)} afresh.`
  );
}
