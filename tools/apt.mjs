// Debian packages without root: apt resolves, downloads and verifies in a folder of its own, and dpkg-deb
// unpacks. Nothing is installed, no package script runs, and only the host's apt settings are read.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ask, Failure, which } from './steps.mjs';

const keyrings = ['gpg', 'pgp'].map((ending) => `/usr/share/keyrings/debian-archive-keyring.${ending}`);

/** Whether apt is there, to download and unpack with. */
const hasApt = () => ['apt-get', 'apt-config', 'dpkg', 'dpkg-deb'].every((program) => which(program));

/**
 * The mirror in the host's own sources for its release: { uri, release }. Throws a Failure where there is
 * none; `instead` tells how to do without.
 */
export function debianMirror(instead) {
  const about = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const field = (name) => about.match(new RegExp(`^${name}="?([^"\\n]*)`, 'm'))?.[1];
  const releases = [field('VERSION_CODENAME'), 'stable', 'oldstable', 'testing', 'unstable', 'sid'];
  // Let apt read the sources: they come in several formats.
  const format = ['--format', '$(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages'];
  const sources = (hasApt() && ask('apt-get', ['indextargets', ...format])) || '';
  const [uri, release] =
    sources
      .split('\n')
      .map((line) => line.split(' '))
      .find(([at, of, part]) => part === 'main' && releases.includes(of) && !at.startsWith('cdrom:')) ?? [];
  if (field('ID') === 'debian' && uri) return { uri: uri.replace(/\/$/, ''), release };
  const why = hasApt() ? "This machine's apt sources name no Debian mirror" : 'This machine has no apt';
  throw new Failure(`${why} to download from.\nBy hand: ${instead}`);
}

/**
 * Unpacks packages of a suite, with all their dependencies, into `folder`. A package is a name or
 * name=version, as for apt-get. `run` is that of a step.
 */
export async function unpackPackages(run, { uri, suite, packages }, folder) {
  const own = join(folder, 'apt');
  for (const path of [
    'etc/apt.conf.d',
    'etc/preferences.d',
    'etc/sources.list.d',
    'state/lists/partial',
    'cache/archives/partial',
  ])
    mkdirSync(join(own, path), { recursive: true });
  // Nothing counts as installed, so apt fetches every dependency.
  writeFileSync(join(own, 'status'), '');
  const keyring = keyrings.find((file) => existsSync(file));
  const options = [
    `arch=${ask('dpkg', ['--print-architecture'])}`,
    ...(keyring ? [`signed-by=${keyring}`] : []),
  ];
  writeFileSync(join(own, 'etc/sources.list'), `deb [${options.join(' ')}] ${uri} ${suite} main\n`);
  writeFileSync(join(own, 'apt.conf'), settings(own));
  const env = { ...process.env, APT_CONFIG: join(own, 'apt.conf') };
  await run('apt-get', ['update'], { env });
  await run('apt-get', ['install', '-y', '--download-only', ...packages], { env });

  const archives = join(own, 'cache/archives');
  const waiting = readdirSync(archives).filter((name) => name.endsWith('.deb'));
  const unpackOneByOne = async () => {
    for (let name = waiting.pop(); name; name = waiting.pop())
      await run('dpkg-deb', ['--extract', join(archives, name), folder]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, unpackOneByOne));
  rmSync(own, { recursive: true });
}

/** The host's download settings, above all proxies, without its hooks and indexes. */
function settings(own) {
  const host = (ask('apt-config', ['dump']) ?? '').split('\n');
  const kept = host.filter(
    (line) => /^Acquire::/.test(line) && !/^Acquire::(IndexTargets|Languages)/.test(line),
  );
  const ours = {
    'Dir::Etc': join(own, 'etc'),
    'Dir::State': join(own, 'state'),
    'Dir::State::status': join(own, 'status'),
    'Dir::Cache': join(own, 'cache'),
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    // An index that cannot be fetched is an error, not a warning.
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    'Debug::NoLocking': 'true',
  };
  return [...kept, ...Object.entries(ours).map(([name, value]) => `${name} "${value}";`), ''].join('\n');
}
