// An empty project, usually with the packed tarball installed from its file, without a network.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Project {
  folder: string;
  write(file: string, text: string): Promise<void>;
  run(program: string, ...args: string[]): Promise<Outcome>;
  /** Adds an optional package as a user would, but from this checkout. */
  add(name: string): Promise<void>;
}

/** The environment of a shell before npm and Vitest added theirs, except for PATH. */
export const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(npm_|VITEST|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|TEST$|MODE$|DEV$|PROD$|SSR$|BASE_URL$)/.test(name),
    ),
  );

export const execute = (
  program: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Outcome> =>
  new Promise((done) => {
    execFile(program, args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });

const temporary: string[] = [];
afterAll(() => Promise.all(temporary.map((folder) => rm(folder, { recursive: true }))));

/** A folder that is removed after the tests of a file. */
async function temporaryFolder(kind: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `superpose-${kind}-`));
  temporary.push(folder);
  return folder;
}

export interface Packed {
  /** The path of the tarball. */
  tarball: string;
  integrity: string;
  /** The size of the tarball in bytes. */
  size: number;
  files: string[];
}

/** The tarball of this checkout, or of another folder with a package; packed once per test file. */
export async function pack(of = root): Promise<Packed> {
  const folder = await temporaryFolder('pack');
  // Without scripts: the tests use what is already built.
  const packed = await execute(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder, of],
    root,
  );
  if (packed.code !== 0) throw new Error(packed.stderr);
  const [{ filename, integrity, size, files }] = JSON.parse(packed.stdout);
  return {
    tarball: join(folder, filename),
    integrity,
    size,
    files: files.map(({ path }: { path: string }) => path),
  };
}

/** An empty project, with the tarball installed when one is given. */
export async function emptyProject(tarball?: string): Promise<Project> {
  const folder = await temporaryFolder('user');
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  await write('package.json', JSON.stringify({ name: 'user', version: '1.0.0', type: 'module' }));
  if (tarball) {
    const install = ['install', '--offline', '--no-audit', '--no-fund', tarball];
    const installed = await execute('npm', install, folder);
    if (installed.code !== 0) throw new Error(installed.stderr);
  }
  return {
    folder,
    write,
    run: (program, ...args) => execute(program, args, folder),
    async add(name) {
      const target = join(folder, 'node_modules', name);
      await mkdir(dirname(target), { recursive: true });
      await symlink(join(root, 'node_modules', name), target);
    },
  };
}
