// Lets one process at a time set up, build or unpack, because `npm start` and `npm test` may run at once in
// a checkout and several checkouts share a cache. The kernel releases the lock when its holder ends, however
// it ends.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { makeFolder, which } from './steps.mjs';

/**
 * Runs `work` while this process alone holds the lock file. flock(1) holds it while the pipe from this
 * process is open, so a set-up that is killed leaves no stale lock. Without flock(1), which only Linux has,
 * `work` runs unlocked.
 */
export async function withLock(file, what, work) {
  makeFolder(dirname(file));
  if (!which('flock')) return work();
  let holder = await acquire(file, '--nonblock');
  if (!holder) {
    console.log(`Waiting for another run that works on ${what} (${file}).`);
    holder = await acquire(file);
  }
  if (!holder) throw new Error(`The file ${file} could not be locked.`);
  try {
    return await work();
  } finally {
    holder.stdin.destroy();
  }
}

/** Starts the process that holds the lock; resolves with undefined if it cannot have it. */
function acquire(file, ...options) {
  const holder = spawn('flock', [...options, file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Its own process group: Ctrl-C must not release the lock before the work has stopped.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    holder.stdout.once('data', () => resolve(holder));
    holder.once('error', reject);
    holder.once('close', () => resolve(undefined));
  });
}
