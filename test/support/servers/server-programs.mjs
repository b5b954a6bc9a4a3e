// This file is plain JavaScript, because `npm test` loads it before the build. Jest loads it as well.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const CHROMIUM_FOR_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

const PYTHON_PACKAGES = '/usr/lib/python3/dist-packages';

/**
 * The server programs that the tests use. `commands`: names or paths, of which the first that exists is used. `debian`:
 * the Debian package. `image`: the container image that can replace the program, or null if it must be installed.
 */
export const SERVER_PROGRAMS = {
  mariadbd: { commands: ['mariadbd'], debian: 'mariadb-server', image: 'mariadb:10.11' },
  // The folder of the library that mariadbd loads. Galera and HAProxy have no image here: the nodes find each other on
  // the loopback interface.
  galera: { commands: ['/usr/lib/galera'], debian: 'galera-4', image: null },
  rsync: { commands: ['rsync'], debian: 'rsync', image: null },
  haproxy: { commands: ['haproxy'], debian: 'haproxy', image: null },
  'redis-server': { commands: ['redis-server'], debian: 'redis-server', image: 'redis:7' },
  slapd: { commands: ['slapd'], debian: 'slapd', image: 'osixia/openldap:1.5.0' },
  ldapadd: { commands: ['ldapadd'], debian: 'ldap-utils', image: 'osixia/openldap:1.5.0' },
  // Samba has no image here: it listens on fixed ports, and the tests read and change its files beside it.
  samba: { commands: ['samba'], debian: 'samba-ad-dc', image: null },
  // The package has no program. Samba reads the schema of a new domain from this folder.
  'samba-provision': { commands: ['/usr/share/samba/setup'], debian: 'samba-ad-provision', image: null },
  // Apache and its Lua have no image here: the configuration loads modules by the paths of Debian.
  apache2: { commands: ['apache2'], debian: 'apache2-bin', image: null },
  // The package has no program. Lua in Apache loads this folder.
  'lua-socket': { commands: ['/usr/share/lua/5.3/socket'], debian: 'lua-socket', image: null },
  // The package has a module for Apache, which is no program.
  'apache-openidc': {
    commands: ['/usr/share/doc/libapache2-mod-auth-openidc'],
    debian: 'libapache2-mod-auth-openidc',
    image: null,
  },
  // LemonLDAP::NG has no program: `plackup` runs its Perl modules, and these folders show that they are there.
  plackup: { commands: ['plackup'], debian: 'libplack-perl', image: null },
  lemonldap: {
    commands: ['/usr/share/lemonldap-ng/portal/templates'],
    debian: 'liblemonldap-ng-portal-perl',
    image: null,
  },
  'perl-io-string': { commands: ['/usr/share/doc/libio-string-perl'], debian: 'libio-string-perl', image: null },
  'perl-string-random': {
    commands: ['/usr/share/doc/libstring-random-perl'],
    debian: 'libstring-random-perl',
    image: null,
  },
  nginx: { commands: ['nginx'], debian: 'nginx-light', image: 'nginx:1.28' },
  promtool: { commands: ['promtool'], debian: 'prometheus', image: 'prom/prometheus:v2.53.0' },
  openssl: { commands: ['openssl'], debian: 'openssl', image: null },
  // The languages of the generated clients (docs/languages), and the packages that their code needs.
  javac: { commands: ['javac'], debian: 'default-jdk-headless', image: null },
  go: { commands: ['go'], debian: 'golang-go', image: null },
  'go-oauth2': {
    commands: ['/usr/share/gocode/src/golang.org/x/oauth2'],
    debian: 'golang-golang-x-oauth2-dev',
    image: null,
  },
  php: { commands: ['php'], debian: 'php-cli', image: null },
  'php-mbstring': { commands: ['/usr/share/doc/php-mbstring'], debian: 'php-mbstring', image: null },
  'php-guzzle': { commands: ['/usr/share/php/GuzzleHttp'], debian: 'php-guzzlehttp-guzzle', image: null },
  python3: { commands: ['/usr/bin/python3'], debian: 'python3', image: null },
  'python3-urllib3': { commands: [`${PYTHON_PACKAGES}/urllib3`], debian: 'python3-urllib3', image: null },
  'python3-dateutil': { commands: [`${PYTHON_PACKAGES}/dateutil`], debian: 'python3-dateutil', image: null },
  'python3-certifi': { commands: [`${PYTHON_PACKAGES}/certifi`], debian: 'python3-certifi', image: null },
  // These packages have no program: Debian's python3 loads their folders.
  'python3-jwt': { commands: [`${PYTHON_PACKAGES}/jwt`], debian: 'python3-jwt', image: null },
  'python3-cryptography': {
    commands: [`${PYTHON_PACKAGES}/cryptography`],
    debian: 'python3-cryptography',
    image: null,
  },
  'python3-authlib': { commands: [`${PYTHON_PACKAGES}/authlib`], debian: 'python3-authlib', image: null },
  'python3-requests': { commands: [`${PYTHON_PACKAGES}/requests`], debian: 'python3-requests', image: null },
  'python3-flask': { commands: [`${PYTHON_PACKAGES}/flask`], debian: 'python3-flask', image: null },
  // The headless shell is the same engine without the windows of a browser, and takes an eighth less of the processor.
  chromium: {
    commands: [
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'google-chrome-stable',
      CHROMIUM_FOR_MACOS,
    ],
    debian: 'chromium-headless-shell',
    image: null,
  },
};

const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin'];

/**
 * Path of the first executable command of the program, or null. Also searches sbin, which is often not in PATH.
 * A name that is not in the list is its own command.
 */
export function findProgram(name, path = process.env.PATH ?? '', systemFolders = SYSTEM_FOLDERS) {
  const folders = [...path.split(delimiter).filter(Boolean), ...systemFolders];
  const candidates = (SERVER_PROGRAMS[name]?.commands ?? [name]).flatMap((command) =>
    isAbsolute(command) ? [command] : folders.map((folder) => join(folder, command)),
  );
  return candidates.find(isExecutable) ?? null;
}

/** Whether a container engine answers. An installed Docker client without a running engine does not count. */
export function dockerAnswers() {
  const question = ['version', '--format', '{{.Server.Version}}'];
  return spawnSync('docker', question, { env: process.env, timeout: 20_000 }).status === 0;
}

/**
 * Decides how missing programs become available: by installation or as containers. `impossible` ends the run, because
 * no test is skipped when its server is missing.
 */
export function planFor(missing, { canInstall, hasDocker }) {
  if (missing.length === 0) return { kind: 'ready' };
  if (canInstall) {
    return { kind: 'install', packages: [...new Set(missing.map((name) => SERVER_PROGRAMS[name].debian))] };
  }
  const unreplaceable = hasDocker ? missing.filter((name) => SERVER_PROGRAMS[name].image === null) : missing;
  return unreplaceable.length === 0 ? { kind: 'containers', missing } : { kind: 'impossible', missing: unreplaceable };
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
