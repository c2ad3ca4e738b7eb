// npm run bench: the four terms, a forward of MiniLM's shape and steps of training, by the library and by its peers, in
// Node and in Chromium. Vitest measures. `-- --project=chromium` runs one of them, `-- -t Training` one job;
// tools/bench/figures.mjs measures the page.
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { ask, root, runTool, step } from './steps.mjs';

async function main(args) {
  const env = await setUp('wasm', 'chromium');
  await build(env);
  const commit = ask('git', ['describe', '--always', '--dirty'], { cwd: root });
  const machine = `${cpus()[0].model}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`;
  console.log(
    `${new Date().toISOString().slice(0, 10)}, at ${commit}; ${machine}; Node ${process.versions.node}`,
  );
  const named = args.some((arg) => arg.startsWith('--project'));
  const both = named ? [] : ['--project=node-alone', '--project=chromium'];
  const alone = ['--config=tests/vitest.config.ts', '--no-file-parallelism'];
  const command = ['bench', '--run', ...alone, ...both, ...args];
  await step('Bench', { byHand: `npx vitest ${command.join(' ')} does the same.` }, (run) =>
    run(join(root, 'node_modules/.bin/vitest'), command, { env, show: true }),
  );
}

await runTool(import.meta.url, main);
