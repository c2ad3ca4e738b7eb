// npm run soak: the long form of the soak tests: 100,000 calls, 500 figures. Memory must stay flat.
import { join } from 'node:path';
import { build } from './build.mjs';
import { setUp } from './setup.mjs';
import { root, runTool, step, usageError } from './steps.mjs';

async function main(args) {
  if (args.length > 0) throw usageError(`npm run soak takes no arguments, and got: ${args.join(' ')}`);
  const env = await setUp('wasm', 'chromium');
  await build(env);
  const long = { ...env, SUPERPOSE_SOAK_CALLS: '100000', SUPERPOSE_SOAK_FIGURES: '500' };
  for (const [project, file] of [
    ['node', 'tests/soak'],
    ['page', 'tests/page/soak'],
  ]) {
    const command = ['run', '--config', 'tests/vitest.config.ts', `--project=${project}*`, file];
    await step(`Soak (${project})`, { byHand: `npx vitest ${command.join(' ')} is the short form.` }, (run) =>
      run(join(root, 'node_modules/.bin/vitest'), command, { env: long, show: true }),
    );
  }
}

runTool(import.meta.url, main);
