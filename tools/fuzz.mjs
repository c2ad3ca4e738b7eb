// npm run fuzz [SECONDS]: libFuzzer calls the C++ core, under the sanitizers, with whatever JavaScript could
// pass to it.
import { join } from 'node:path';
import { buildPreset, presetFolder } from './cmake.mjs';
import { setUp } from './setup.mjs';
import { makeFolder, root, runTool, step, usageError } from './steps.mjs';

async function main([seconds = '60', ...rest]) {
  if (rest.length > 0 || !/^\d+$/.test(seconds)) throw usageError('npm run fuzz takes a number of seconds.');
  const env = await setUp('native');
  await buildPreset('fuzz', env);
  const corpus = makeFolder(join(root, 'build/fuzz/corpus'));
  // For inputs this short, entropic scheduling costs too much, and so does remembering many freed blocks.
  const options = ['-max_len=400', '-timeout=20', '-entropic=0', '-print_final_stats=1'];
  const byHand =
    'copy the file that it names above into tests/core/fuzz/corpus; `npm test -- sanitize fuzz` then fails likewise.';
  await step('Fuzz the core', { byHand }, (run) =>
    run(
      join(presetFolder('fuzz'), 'fuzz'),
      [...options, `-max_total_time=${seconds}`, corpus, 'tests/core/fuzz/corpus'],
      { env: { ...env, ASAN_OPTIONS: 'malloc_context_size=2:quarantine_size_mb=4' }, show: true },
    ),
  );
}

runTool(import.meta.url, main);
