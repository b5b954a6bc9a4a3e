import { createConnection } from 'mysql2/promise';

import { eventually } from '../support/servers/eventually';
import { Galera } from '../support/servers/galera';

describe('Galera', () => {
  let cluster: Galera;

  beforeAll(async () => {
    cluster = await Galera.start({ suspectSeconds: 3 });
  });

  afterAll(() => cluster.stop());

  it('a row that one node wrote is read at once on the others, and two nodes cannot change it at the same time', async () => {
    const url = await cluster.freshDatabase('shared');
    const [one, other] = await Promise.all([0, 1].map((n) => createConnection(cluster.node(n).urlOf(url))));
    await one!.query('CREATE TABLE note (id INT PRIMARY KEY, words VARCHAR(20))');
    await one!.query("INSERT INTO note VALUES (1, 'first')");
    expect((await other!.query('SELECT words FROM note'))[0]).toEqual([{ words: 'first' }]);

    for (const connection of [one!, other!]) await connection.beginTransaction();
    await one!.query("UPDATE note SET words = 'one'");
    await other!.query("UPDATE note SET words = 'other'");
    const commits = await Promise.allSettled([one!.commit(), other!.commit()]);
    expect(commits.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(commits.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'ER_LOCK_DEADLOCK' } });
    for (const connection of [one!, other!]) connection.destroy();
  });

  it('a node that is cut off answers no query, and catches up when it returns', async () => {
    const [first, cutOff] = [cluster.node(0), cluster.node(2)];
    await cutOff.isolate(true);
    const refused = async () =>
      cutOff.run('SELECT * FROM shared.note').then(
        () => false,
        ({ errno }: { errno: number }) => errno === 1047,
      );
    await eventually(refused, { what: 'error 1047' });
    await eventually(() => first.isSynced(2), { what: 'the others go on' });
    await first.run("INSERT INTO shared.note VALUES (2, 'missed')");
    await cutOff.isolate(false);
    await eventually(() => cutOff.isSynced(), { what: 'the node returns' });
    expect(await cutOff.run('SELECT words FROM shared.note WHERE id = 2')).toEqual([{ words: 'missed' }]);
  });

  it('the others go on without a node that was killed', async () => {
    const [first, second, third] = cluster.nodes;
    await eventually(() => second!.isSynced(), { what: 'all nodes are back' });
    await first!.kill();
    await eventually(() => second!.isSynced(2), { what: 'the killed node has left' });
    await second!.run("INSERT INTO shared.note VALUES (3, 'after')");
    expect(await third!.run('SELECT words FROM shared.note WHERE id = 3')).toEqual([{ words: 'after' }]);
  });

  it('has ended after stop', async () => {
    await cluster.stop();
    for (const node of cluster.nodes) expect(() => process.kill(node.pid, 0)).toThrow('ESRCH');
  });
});
