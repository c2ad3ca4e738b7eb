// One process at a time: a lock that the kernel releases when its holder ends, however it ends.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { makeFolder, which } from './steps.mjs';

/**
 * Runs `work` while this process alone holds the lock file. flock(1) holds it for as long as the pipe from
 * here is open, so a killed set-up leaves no stale lock. Without flock(1) (not Linux), `work` runs without a
 * lock.
 */
export async function withLock(file, what, work) {
  makeFolder(dirname(file));
  if (!which('flock')) return work();
  let holder = await held(file, '--nonblock');
  if (!holder) {
    console.log(`Waiting for another run that is at work on ${what} (${file}).`);
    holder = await held(file);
  }
  if (!holder) throw new Error(`${file} cannot be locked.`);
  try {
    return await work();
  } finally {
    holder.stdin.destroy();
  }
}

/** The process that holds the lock; undefined where it cannot. */
function held(file, ...options) {
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
