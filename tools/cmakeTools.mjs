// CMake and Ninja: the host's, or private ones from packages of the host's release.
import { renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackPackages } from './apt.mjs';
import { which } from './steps.mjs';
import { unpacked, wrapProgram } from './unpack.mjs';

const programs = ['cmake', 'ctest', 'ninja'];

/**
 * The folder with private CMake and Ninja, which is put at the end of this process's PATH; undefined where
 * the host has its own.
 */
export async function cmakeTools() {
  if (['cmake', 'ninja'].every((program) => which(program))) return undefined;
  const folder = join(await privateTools(), 'usr/bin');
  process.env.PATH = `${process.env.PATH}${delimiter}${folder}`;
  return folder;
}

function privateTools() {
  return unpacked({
    name: 'cmake-ninja-1',
    what: 'CMake and Ninja (0.2 GB)',
    instead: 'put CMake 3.25 or newer and Ninja on PATH.',
    fill: async (half, { uri, release }, run) => {
      await unpackPackages(run, { uri, suite: release, packages: ['cmake', 'ninja-build'] }, half);
      // CMake finds its modules from the name that it is called by. So the wrappers take the programs' place,
      // and nothing else is in that folder, because it is on PATH.
      renameSync(join(half, 'usr/bin'), join(half, 'usr/programs'));
      for (const program of programs) {
        wrapProgram(half, { wrapper: `usr/bin/${program}`, program: `usr/programs/${program}` });
        await run(join(half, 'usr/bin', program), ['--version']);
      }
    },
  });
}
