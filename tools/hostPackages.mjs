// Installs with apt what the tests need from the host or, where that is not possible, says what is missing.
// Building needs none of it.
import { ask, Failure, step, which } from './steps.mjs';

// A need is a Debian package and the evidence that it is met: a program on PATH, wherever it came from, or,
// for a package without programs, an installed package. Where apt does not know the package, another program
// may serve.
const needs = {
  wasm: [],
  native: [
    { package: 'g++', program: 'g++' },
    { package: 'clang', program: 'clang++' },
    { package: 'libclang-rt-dev', installed: 'libclang-rt-*dev' },
    { package: 'libgtest-dev', installed: 'libgtest-dev' },
    // Not essential: it only saves time.
    { package: 'ccache', program: 'ccache', otherwise: 'g++' },
  ],
  chromium: [
    { package: 'chromium', program: 'chromium' },
    // Needs half the memory and time of the full browser, which serves where this package does not exist.
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

// Keeps packages from asking questions and starting services: RUNLEVEL stops System V's start-up scripts and
// SYSTEMD_OFFLINE stops systemd's units, both only for this call.
const quietly = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', SYSTEMD_OFFLINE: '1' };
// A fresh machine may be updating itself, so wait for its lock.
const wait = ['-o', 'DPkg::Lock::Timeout=300'];
const install = ['install', '-y', '--no-install-recommends'];

/** Installs what the named groups of needs lack. */
export async function installHostPackages(groups) {
  const missing = missingNeeds(groups).map((need) => need.package);
  if (missing.length === 0) return;
  if (!which('apt-get'))
    throw new Failure(
      `Not on PATH: ${missingPrograms(groups).join(' ')}, and this machine has no apt to install them with.\n` +
        "By hand: install them with this machine's package manager.",
    );
  const byHand = `as root, run: apt-get update && apt-get ${[...install, ...missing].join(' ')}`;
  console.log(`Missing on this machine: ${missing.join(' ')}.`);
  if (process.getuid() !== 0) throw new Failure(`Installing them needs root.\nBy hand: ${byHand}`);
  const env = { ...process.env, ...quietly, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  await step('Update the package lists', { byHand }, (run) => run('apt-get', [...wait, 'update'], { env }));
  await step(`Install ${missing.length} Debian packages`, { byHand }, (run) =>
    run('apt-get', [...wait, ...install, ...missing], { env }),
  );
}

/** The programs of the named groups that this machine lacks. */
export function missingPrograms(groups) {
  return missingNeeds(groups).flatMap((need) => need.program ?? []);
}

export function missingNeeds(groups) {
  const needed = new Set(groups.flatMap((group) => needs[group]));
  return [...needed].filter((need) => {
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
