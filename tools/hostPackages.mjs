// What the tests need from the host: installed with apt where possible, else named. Building needs none.
import { spawnSync } from 'node:child_process';
import { ask, Failure, step, which } from './steps.mjs';

// A need is a Debian package and the evidence that it is met: a program on PATH, wherever it came
// from, or, for a package without programs, an installed package. Where apt does not know the package,
// another program may do.
const needs = {
  wasm: [],
  native: [
    { package: 'g++', program: 'g++' },
    { package: 'clang', program: 'clang++' },
    { package: 'libclang-rt-dev', installed: 'libclang-rt-*dev' },
    { package: 'libgtest-dev', installed: 'libgtest-dev' },
    // It only saves time.
    { package: 'ccache', program: 'ccache', otherwise: 'g++' },
  ],
  chromium: [
    { package: 'chromium', program: 'chromium' },
    // A page costs half as much as in the full browser, which will do where there is no such package.
    { package: 'chromium-headless-shell', program: 'chromium-headless-shell', otherwise: 'chromium' },
    { package: 'fonts-dejavu-core', installed: 'fonts-dejavu-core' },
  ],
  style: [
    { package: 'clang-format', program: 'clang-format' },
    { package: 'clang-tidy', program: 'clang-tidy' },
  ],
  oracles: [{ package: 'python3-numpy', installed: 'python3-numpy' }],
  engines: [
    { package: 'firefox-esr', program: 'firefox-esr' },
    { package: 'webkit2gtk-driver', program: 'WebKitWebDriver' },
    { package: 'xvfb', program: 'xvfb-run' },
    { package: 'xauth', program: 'xauth' },
  ],
};

/** Optional groups: without one, the tests that need it are skipped and the others run. */
export const optional = ['oracles', 'style', 'chromium', 'engines'];

// Packages ask no question and start no service: RUNLEVEL stops System V's start-up scripts and
// SYSTEMD_OFFLINE stops systemd's units, both for this one call only.
const quietly = ['DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'SYSTEMD_OFFLINE=1'];
// A fresh machine may be updating itself just now: wait for its lock.
const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=300'];
const install = ['install', '-y', '--no-install-recommends'];

/** Installs what the named groups of needs lack. Who must do it by hand is told of `later` groups too. */
export async function installHostPackages(groups, later = []) {
  const missing = missingPackages(groups);
  if (missing.length === 0) return;
  if (!which('apt-get')) return tellWithoutApt(groups);

  const all = missingPackages([...groups, ...later]);
  const byHand = `as root, run: apt-get update && apt-get ${[...install, ...all].join(' ')}`;
  console.log(`Missing on this machine: ${missing.join(' ')}.`);
  const asRoot = rootPrefix(byHand);
  await step('Update the package lists', { byHand }, (run) =>
    run(asRoot[0], [...asRoot.slice(1), ...apt, 'update']),
  );
  const installed = ask('apt-get', ['-s', ...install, ...missing])?.match(/(?<=^Inst )\S+/gm) ?? missing;
  console.log(`apt installs: ${installed.join(' ')}`);
  await step(`Install ${installed.length} Debian packages`, { byHand }, (run) =>
    run(asRoot[0], [...asRoot.slice(1), ...apt, ...install, ...missing]),
  );
}

/** The programs of the named groups that this machine lacks. */
export function missingPrograms(groups) {
  return missingNeeds(groups).flatMap((need) => need.program ?? []);
}

const missingPackages = (groups) => missingNeeds(groups).map((need) => need.package);

function missingNeeds(groups) {
  const wanted = new Set(groups.flatMap((group) => needs[group]));
  return [...wanted].filter((need) => {
    if (need.installed) return !packageInstalled(need.installed);
    if (which(need.program)) return false;
    return !(need.otherwise && which(need.otherwise) && !aptKnows(need.package));
  });
}

const aptKnows = (name) => Boolean(which('apt-cache') && ask('apt-cache', ['show', name]));

function packageInstalled(pattern) {
  // Without dpkg, leave it to CMake to say whether a library is missing.
  if (!which('dpkg-query')) return true;
  return /^.i /m.test(ask('dpkg-query', ['--list', pattern]) ?? '');
}

function rootPrefix(byHand) {
  const env = ['env', ...quietly, `PATH=${process.env.PATH}:/usr/sbin:/sbin`];
  if (process.getuid() === 0) return env;
  if (!which('sudo')) {
    throw new Failure(`Installing them needs root, and there is no sudo here.\nBy hand: ${byHand}`);
  }
  console.log('sudo may ask for your password, for apt only.');
  // Ask for the password before the steps: their progress would overwrite the question.
  if (process.stdin.isTTY) spawnSync('sudo', ['-v'], { stdio: 'inherit' });
  return ['sudo', ...env];
}

function tellWithoutApt(groups) {
  throw new Failure(
    `Not on PATH: ${missingPrograms(groups).join(' ')}, and this machine has no apt to install them with.\n` +
      "By hand: install them with this machine's package manager.",
  );
}
