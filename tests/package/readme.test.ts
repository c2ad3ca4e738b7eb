// The commands in README.md, as they stand there, in an empty project with the tarball.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { emptyProject, pack, root } from './support/project.ts';
import { blocks } from './support/readme.ts';

test.runIf(inject('withModel'))(
  'the commands for Node run, with what the first of them installs',
  async () => {
    const [block = ''] = blocks('Use it from Node', 'sh');
    const [install = '', ...commands] = block.trim().split('\n');
    const [name, ...others] = install.replace('npm install ', '').split(' ');
    expect(name).toBe('superpose');
    const project = await emptyProject((await pack()).tarball);
    onTestFinished(() => project.remove());
    for (const other of others) await project.add(other);
    expect(commands.length).toBeGreaterThanOrEqual(3);
    for (const command of commands) {
      const { code, stdout, stderr } = await project.run('sh', '-c', command);
      expect({ command, code, said: stdout.length > 0 }, stderr).toEqual({ command, code: 0, said: true });
      const [, out] = command.match(/--out (\S+)/) ?? [];
      if (out) expect(existsSync(join(project.folder, out))).toBe(true);
    }
    // And the program beneath, from the same project.
    const [program = ''] = blocks('Use it from Node', 'js');
    await project.write('program.mjs', program);
    const { code, stdout } = await project.run(process.execPath, 'program.mjs');
    expect(code).toBe(0);
    expect(stdout).toContain('largest gap');
  },
);

test('the commands for the checkout are scripts', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const named = [...readme.matchAll(/npm (?:run )?(start|test|build)\b/g)].map(([, name]) => name as string);
  expect(new Set(named)).toEqual(new Set(['start', 'test', 'build']));
  for (const name of named) expect(scripts).toHaveProperty(name);
});

test('every file that README.md and CONTRIBUTING.md name is there', () => {
  for (const file of ['README.md', '.github/CONTRIBUTING.md']) {
    const text = readFileSync(join(root, file), 'utf8').replace(/```[\s\S]*?```/g, '');
    const named = [...text.matchAll(/`((?:src|web|tests|tools|\.github)\/[\w./-]+)`/g)].map(
      ([, path]) => path as string,
    );
    expect(named.length).toBeGreaterThan(5);
    // The worked example's own two files are the reader's to write.
    for (const path of named.filter((one) => !/turns(\.test)?\.ts$/.test(one))) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
  }
});
