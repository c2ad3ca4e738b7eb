// README.md's commands for those who have the package, run unchanged in an empty project.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { emptyProject, execute, pack, plainEnvironment, root } from './support/project.ts';
import { blocks, commands, forThePackage } from './support/readme.ts';
import { type Packed, startRegistry } from './support/registry.ts';

/** A package of this checkout, or the checkout itself, as a registry serves it. */
async function packed(folder: string): Promise<Packed> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { ...(await pack(folder)), manifest };
}

test.runIf(inject('withModel'))(
  'the commands run, and the program, with what the first installs',
  async () => {
    const [install = '', ...others] = commands().filter(forThePackage);
    expect(install).toMatch(/^npm install superpose /);
    const named = install.split(' ').slice(3);
    const installed = (name: string) => join(root, 'node_modules', name);
    // A package may have a build for each system; only those for this one are installed.
    const builds = named.flatMap((name) => {
      const { optionalDependencies = {} } = JSON.parse(
        readFileSync(join(installed(name), 'package.json'), 'utf8'),
      );
      return Object.keys(optionalDependencies).filter((build) => existsSync(installed(build)));
    });
    const packages = await Promise.all([root, ...[...named, ...builds].map(installed)].map(packed));
    const registry = await startRegistry(packages);
    onTestFinished(() => registry.stop());
    const project = await emptyProject();
    const env = {
      ...plainEnvironment(),
      npm_config_registry: registry.address,
      npm_config_cache: join(project.folder, '.npm'),
    };
    const run = (command: string) => execute('sh', ['-c', command], project.folder, env);

    expect(others.length).toBeGreaterThanOrEqual(4);
    for (const command of [install, ...others]) {
      const { code, stdout, stderr } = await run(command);
      expect({ command, code, said: stdout.length > 0 }, stderr).toEqual({ command, code: 0, said: true });
      const [, out] = command.match(/--out (\S+)/) ?? [];
      if (out) expect(existsSync(join(project.folder, out))).toBe(true);
    }
    const [program = ''] = blocks('Use it from Node', 'js');
    await project.write('program.mjs', program);
    const { code, stdout } = await run('node program.mjs');
    expect(code).toBe(0);
    expect(stdout).toContain('largest gap');
  },
);
