/** How the database server keeps its copies, as far as it matters for reads. */
export interface Cluster {
  readonly kind: 'Galera' | 'group replication';
  /** Whether a read sees every commit that was answered before, also one of another node. */
  readonly causal: boolean;
  /** The setting that decides it, with its value and the value that the service needs. */
  readonly setting: string;
}

type Variable = { readonly Variable_name: string; readonly Value: string };

/** Bits of `wsrep_sync_wait`: SELECT and BEGIN, UPDATE and DELETE, INSERT and REPLACE. */
const causalBits = 1 | 2 | 4;

const names = [
  'wsrep_on',
  'wsrep_sync_wait',
  'group_replication_group_name',
  'group_replication_single_primary_mode',
  'group_replication_consistency',
];

/**
 * Asks the server whether it is a node of a cluster (ADR 0029). A server without a cluster has `wsrep_on` OFF, or none
 * of these variables.
 * @param ask runs a statement of MySQL and returns its rows
 */
export async function clusterOf(ask: (statement: string) => Promise<unknown>): Promise<Cluster | undefined> {
  // The values of the session, because a server may set them for each new one (`init_connect`).
  const rows = (await ask(
    `SHOW SESSION VARIABLES WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  )) as Variable[];
  const of = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  if (of.get('wsrep_on') === 'ON') return galera(Number(of.get('wsrep_sync_wait')));
  if (of.get('group_replication_group_name')) {
    return group(of.get('group_replication_consistency') ?? '', of.get('group_replication_single_primary_mode'));
  }
  return undefined;
}

function galera(wait: number): Cluster {
  return {
    kind: 'Galera',
    causal: (wait & causalBits) === causalBits,
    setting: `wsrep_sync_wait is ${wait} and must be 7`,
  };
}

/** With one primary, a read can be too early only after a failover. */
function group(consistency: string, singlePrimary: string | undefined): Cluster {
  const enough = ['BEFORE', 'AFTER', 'BEFORE_AND_AFTER'];
  if (singlePrimary !== 'OFF') enough.push('BEFORE_ON_PRIMARY_FAILOVER');
  return {
    kind: 'group replication',
    causal: enough.includes(consistency),
    setting: `group_replication_consistency is ${consistency} and must be ${enough.at(-1)}`,
  };
}
