// npm run bench: times the four terms, a forward pass of MiniLM's shape and training steps, in the library
// and in its peers, in Node and in Chromium. Vitest does the timing: `-- --project=chromium` runs in one of
// them, and `-- -t training` runs one job. tools/bench/figures.mjs times the page.
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
  const projects = named ? [] : ['--project=node-alone', '--project=chromium'];
  const options = ['--config=tests/vitest.config.ts', '--no-file-parallelism'];
  const command = ['bench', '--run', ...options, ...projects, ...args];
  await step('Bench', { byHand: `npx vitest ${command.join(' ')} does the same.` }, (run) =>
    run(join(root, 'node_modules/.bin/vitest'), command, { env, show: true }),
  );
}

await runTool(import.meta.url, main);
