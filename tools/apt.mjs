// Unpacks Debian packages without root: apt resolves, downloads and verifies them in a private folder, and
// dpkg-deb unpacks them. Nothing is installed, no package script runs, and only the host's apt settings are
// read.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ask, Failure, which } from './steps.mjs';

const keyrings = ['gpg', 'pgp'].map((ending) => `/usr/share/keyrings/debian-archive-keyring.${ending}`);

/** Whether this machine can download and unpack Debian packages. */
const hasApt = () => ['apt-get', 'apt-config', 'dpkg', 'dpkg-deb'].every((program) => which(program));

/**
 * Returns the mirror that the host's apt sources name for its release: { uri, release }. Throws a Failure if
 * they name none; `instead` tells the user what to do without one.
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
 * Unpacks packages of a suite, with all their dependencies, into `folder`. Each package is a name or
 * name=version, as for apt-get. `run` is the function that a step passes to its work.
 */
export async function unpackPackages(run, { uri, suite, packages }, folder) {
  const aptFolder = join(folder, 'apt');
  for (const path of [
    'etc/apt.conf.d',
    'etc/preferences.d',
    'etc/sources.list.d',
    'state/lists/partial',
    'cache/archives/partial',
  ])
    mkdirSync(join(aptFolder, path), { recursive: true });
  // Nothing counts as installed, so apt fetches every dependency.
  writeFileSync(join(aptFolder, 'status'), '');
  const keyring = keyrings.find((file) => existsSync(file));
  const options = [
    `arch=${ask('dpkg', ['--print-architecture'])}`,
    ...(keyring ? [`signed-by=${keyring}`] : []),
  ];
  writeFileSync(join(aptFolder, 'etc/sources.list'), `deb [${options.join(' ')}] ${uri} ${suite} main\n`);
  writeFileSync(join(aptFolder, 'apt.conf'), configuration(aptFolder));
  const env = { ...process.env, APT_CONFIG: join(aptFolder, 'apt.conf') };
  await run('apt-get', ['update'], { env });
  await run('apt-get', ['install', '-y', '--download-only', ...packages], { env });

  const archives = join(aptFolder, 'cache/archives');
  const waiting = readdirSync(archives).filter((name) => name.endsWith('.deb'));
  const unpackOneByOne = async () => {
    for (let name = waiting.pop(); name; name = waiting.pop())
      await run('dpkg-deb', ['--extract', join(archives, name), folder]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, unpackOneByOne));
  rmSync(aptFolder, { recursive: true });
}

/** apt's configuration: the host's download settings, mainly its proxies, without its hooks and indexes. */
function configuration(aptFolder) {
  const host = (ask('apt-config', ['dump']) ?? '').split('\n');
  const hostSettings = host.filter(
    (line) => /^Acquire::/.test(line) && !/^Acquire::(IndexTargets|Languages)/.test(line),
  );
  const settings = {
    'Dir::Etc': join(aptFolder, 'etc'),
    'Dir::State': join(aptFolder, 'state'),
    'Dir::State::status': join(aptFolder, 'status'),
    'Dir::Cache': join(aptFolder, 'cache'),
    'APT::Install-Recommends': 'false',
    'APT::Sandbox::User': '',
    // An index that cannot be fetched is an error, not a warning.
    'APT::Update::Error-Mode': 'any',
    'Acquire::Languages': 'none',
    'Debug::NoLocking': 'true',
  };
  return [
    ...hostSettings,
    ...Object.entries(settings).map(([name, value]) => `${name} "${value}";`),
    '',
  ].join('\n');
}
