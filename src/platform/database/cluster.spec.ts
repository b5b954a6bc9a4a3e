import { clusterOf } from './cluster';

describe('a cluster of database servers', () => {
  const asked = (variables: Record<string, string>) =>
    clusterOf((statement) => {
      const rows = Object.entries(variables).map(([Variable_name, Value]) => ({ Variable_name, Value }));
      return Promise.resolve(rows.filter((row) => statement.includes(`'${row.Variable_name}'`)));
    });

  it('a single server is none, whether it knows the variables of clusters or not', async () => {
    expect(await asked({})).toBeUndefined();
    expect(await asked({ wsrep_on: 'OFF', wsrep_sync_wait: '0' })).toBeUndefined();
    expect(
      await asked({ group_replication_group_name: '', group_replication_consistency: 'EVENTUAL' }),
    ).toBeUndefined();
  });

  it.each([
    ['0', false],
    ['1', false],
    ['3', false],
    ['7', true],
    ['15', true],
  ])('Galera with wsrep_sync_wait %s: causal reads %s', async (wsrep_sync_wait, causal) => {
    const cluster = await asked({ wsrep_on: 'ON', wsrep_sync_wait });
    expect(cluster).toEqual({ kind: 'Galera', causal, setting: `wsrep_sync_wait is ${wsrep_sync_wait} and must be 7` });
  });

  it.each([
    ['EVENTUAL', 'OFF', false, 'BEFORE_AND_AFTER'],
    ['BEFORE_ON_PRIMARY_FAILOVER', 'OFF', false, 'BEFORE_AND_AFTER'],
    ['BEFORE', 'OFF', true, 'BEFORE_AND_AFTER'],
    ['AFTER', 'OFF', true, 'BEFORE_AND_AFTER'],
    ['BEFORE_AND_AFTER', 'OFF', true, 'BEFORE_AND_AFTER'],
    ['EVENTUAL', 'ON', false, 'BEFORE_ON_PRIMARY_FAILOVER'],
    ['BEFORE_ON_PRIMARY_FAILOVER', 'ON', true, 'BEFORE_ON_PRIMARY_FAILOVER'],
  ])(
    'group replication with consistency %s and one primary %s: causal reads %s',
    async (group_replication_consistency, group_replication_single_primary_mode, causal, needed) => {
      const cluster = await asked({
        group_replication_group_name: '5f1c9f1e-0000-11ef-8000-00000000c1a5',
        group_replication_consistency,
        group_replication_single_primary_mode,
      });
      expect(cluster).toEqual({
        kind: 'group replication',
        causal,
        setting: `group_replication_consistency is ${group_replication_consistency} and must be ${needed}`,
      });
    },
  );
});
