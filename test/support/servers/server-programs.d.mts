export type ProgramName =
  | 'mariadbd'
  | 'galera'
  | 'rsync'
  | 'haproxy'
  | 'redis-server'
  | 'slapd'
  | 'ldapadd'
  | 'samba'
  | 'samba-provision'
  | 'nginx'
  | 'apache2'
  | 'plackup'
  | 'lemonldap'
  | 'perl-io-string'
  | 'perl-string-random'
  | 'lua-socket'
  | 'openssl'
  | 'javac'
  | 'go'
  | 'go-oauth2'
  | 'php'
  | 'php-mbstring'
  | 'php-guzzle'
  | 'python3'
  | 'python3-urllib3'
  | 'python3-dateutil'
  | 'python3-certifi'
  | 'promtool'
  | 'chromium';

export interface ServerProgram {
  readonly commands: readonly string[];
  readonly debian: string;
  readonly image: string | null;
}

export type ServerPlan =
  | { kind: 'ready' }
  | { kind: 'install'; packages: string[] }
  | { kind: 'containers'; missing: ProgramName[] }
  | { kind: 'impossible'; missing: ProgramName[] };

export const SERVER_PROGRAMS: Readonly<Record<ProgramName, ServerProgram>>;
export function findProgram(name: ProgramName, path?: string, systemFolders?: readonly string[]): string | null;
export function dockerAnswers(): boolean;
export function planFor(missing: ProgramName[], machine: { canInstall: boolean; hasDocker: boolean }): ServerPlan;
