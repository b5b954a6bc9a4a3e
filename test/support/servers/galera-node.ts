import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { LocalHost } from './local-host';
import { accounts, AS_ROOT, INSTALL, QUICK } from './mariadb';

export interface NodePorts {
  readonly sql: number;
  /** The communication of the group. */
  readonly group: number;
  /** What a returning node has missed. */
  readonly ist: number;
  /** The script that hands a node over to its cluster. */
  readonly sst: number;
}

export interface NodeSettings {
  readonly directory: string;
  /** The file of the error log. */
  readonly log: string;
  /** The number of the node. Its ports are `ports[n]`. */
  readonly n: number;
  readonly ports: readonly NodePorts[];
  /** How long a node may be silent before the others leave it out. */
  readonly suspectSeconds: number;
}

/** All nodes begin with this state, so that none needs the data of another one. */
const STATE = '5f1c9f1e-0000-11ef-8000-00000000c1a5';
const memberOf = (n: number) => `${n + 1}`.repeat(8) + '-0000-11ef-8000-000000000001';

const LOG_SIZE = '--innodb-log-file-size=8M';

/** Makes a data folder with the account of the tests. */
export async function preparedData(data: string, password: string): Promise<void> {
  const host = new LocalHost();
  await mkdir(data);
  const tmpdir = `--tmpdir=${dirname(data)}`;
  await host.prepare('mariadb-install-db', [...INSTALL, `--datadir=${data}`, tmpdir, LOG_SIZE]);
  const bootstrap = ['--no-defaults', ...AS_ROOT, '--bootstrap', `--datadir=${data}`, tmpdir, LOG_SIZE, ...QUICK];
  await host.beside('mariadbd', bootstrap, `FLUSH PRIVILEGES;\n${accounts(password)}`);
}

/**
 * Files of the data folder: the position of the node, and the last view of the group, which is formed again as soon as
 * all its members have met (`pc.recovery`).
 */
export function clusterState(n: number, nodes: number): [file: string, text: string][] {
  const members = Array.from({ length: nodes }, (_, member) => `member: ${memberOf(member)} 0`);
  return [
    ['grastate.dat', `# GALERA saved state\nversion: 2.1\nuuid: ${STATE}\nseqno: 0\nsafe_to_bootstrap: 0\n`],
    [
      'gvwstate.dat',
      [
        `my_uuid: ${memberOf(n)}`,
        '#vwbeg',
        `view_id: 3 ${memberOf(0)} 3`,
        'bootstrap: 0',
        ...members,
        '#vwend',
        '',
      ].join('\n'),
    ],
  ];
}

export function nodeOptions({ directory, log, n, ports, suspectSeconds }: NodeSettings): string[] {
  const own = ports[n] as NodePorts;
  const provider = [
    `base_port=${own.group}`,
    'base_host=127.0.0.1',
    `gmcast.listen_addr=tcp://127.0.0.1:${own.group}`,
    `ist.recv_addr=127.0.0.1:${own.ist}`,
    'gcache.size=16M',
    'gcache.page_size=4M',
    'pc.recovery=true',
    `evs.suspect_timeout=PT${suspectSeconds}S`,
    `evs.inactive_timeout=PT${3 * suspectSeconds}S`,
  ];
  return [
    '--no-defaults',
    ...AS_ROOT,
    `--datadir=${join(directory, 'data')}`,
    `--tmpdir=${directory}`,
    `--port=${own.sql}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(directory, 'mariadb.sock')}`,
    `--pid-file=${join(directory, 'mariadb.pid')}`,
    `--log-error=${log}`,
    '--max-connections=400',
    '--character-set-server=utf8mb4',
    ...QUICK,
    LOG_SIZE,
    '--innodb-buffer-pool-size=32M',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-autoinc-lock-mode=2',
    '--binlog-format=ROW',
    '--wsrep-on=ON',
    // Causal reads, which the service needs.
    '--wsrep-sync-wait=7',
    '--wsrep-provider=/usr/lib/galera/libgalera_smm.so',
    '--wsrep-cluster-name=tests',
    `--wsrep-cluster-address=gcomm://${ports.map(({ group }) => `127.0.0.1:${group}`).join(',')}`,
    `--wsrep-node-name=node${n}`,
    `--wsrep-node-address=127.0.0.1:${own.group}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${own.sst}`,
    `--wsrep-provider-options=${provider.join(';')}`,
  ];
}
