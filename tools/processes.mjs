// Processes and the memory that they hold, as Linux tells.
import { readFileSync } from 'node:fs';
import { ask } from './steps.mjs';

/** A process's children, theirs, and so on: those whose command line has this text. */
export function startedBy(pid, text = '') {
  const listed = ask('ps', ['-ewwo', 'pid=,ppid=,args=']) ?? '';
  const all = [...listed.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(([, own, parent, line]) => ({
    pid: Number(own),
    parent: Number(parent),
    line,
  }));
  const tree = [{ pid, line: '' }];
  for (const one of tree) tree.push(...all.filter(({ parent }) => parent === one.pid));
  return tree
    .slice(1)
    .filter(({ line }) => line.includes(text))
    .map((one) => one.pid);
}

/** The sum in bytes of what matches in such a file of each process; nothing of one that has ended. */
export function memoryOf(pids, file, field) {
  let kilobytes = 0;
  for (const pid of pids) {
    try {
      const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
      for (const [, number] of text.matchAll(new RegExp(`^${field}:\\s+(\\d+)`, 'gm')))
        kilobytes += Number(number);
    } catch {}
  }
  return 1024 * kilobytes;
}
