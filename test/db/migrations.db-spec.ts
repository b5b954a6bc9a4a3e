import { DataSource } from 'typeorm';
import { Columns } from '../../migrations/columns';
import { migrate } from '../../src/platform/database/migrator';
import { migrationOptions } from '../../src/platform/database/typeorm-options';
import { freshDatabase, migratedDatabase, type TestDatabase } from '../support/database';

describe('migrations that are interrupted and run again', () => {
  let store: TestDatabase;
  let dataSource: DataSource;
  beforeEach(async () => {
    store = await freshDatabase();
    dataSource = await new DataSource(migrationOptions(store.url)).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await store.drop();
  });

  it('a repeated step does nothing: a table, a column, an index', async () => {
    const runner = dataSource.createQueryRunner();
    const c = new Columns(runner);
    for (let run = 0; run < 2; run++) {
      await c.create(c.table('things', [c.uuid('id', { isPrimary: true })]));
      await c.add('things', c.uuid('owner_id', { isNullable: true }));
      await c.addIndex('things', ['owner_id']);
      await runner.query(`INSERT INTO things (id) VALUES ('${run}')`);
    }
    const table = await runner.getTable('things');
    expect(table?.columns.map(({ name, isNullable }) => `${name} ${isNullable}`)).toEqual([
      'id false',
      'owner_id true',
    ]);
    expect(table?.indices.map(({ name }) => name)).toEqual(['ix_things_owner_id']);
    expect(await runner.query('SELECT id FROM things ORDER BY id')).toHaveLength(2);
    await runner.release();
  });

  it('a database of the released version, whose tables have no comment, is accepted unchanged', async () => {
    await migrate(store.url);
    if (__DATABASE__ === 'mariadb') await dataSource.query("ALTER TABLE users COMMENT = ''");
    await dataSource.query("UPDATE tenants SET name = 'Renamed'");
    expect(await migrate(store.url)).toEqual([]);
    expect(await dataSource.query('SELECT name FROM tenants')).toEqual([{ name: 'Renamed' }]);
  });

  it('refuses a database whose table `migrations` has rows of another program', async () => {
    await dataSource.query('CREATE TABLE migrations (id INTEGER PRIMARY KEY, timestamp BIGINT, name VARCHAR(255))');
    await dataSource.query("INSERT INTO migrations (id, timestamp, name) VALUES (1, 1, 'Shop1')");
    await expect(migrate(store.url)).rejects.toThrow('did not make: migrations;');
    expect(await dataSource.query('SELECT name FROM migrations')).toEqual([{ name: 'Shop1' }]);
    // An empty table is accepted, because a run that is killed after its first statement leaves an empty table.
    await dataSource.query('DELETE FROM migrations');
    if (__DATABASE__ === 'sqlite') return;
    await dataSource.query('ALTER TABLE migrations MODIFY id INTEGER AUTO_INCREMENT');
    expect(await migrate(store.url)).not.toEqual([]);
  });
});

it('the copy that most tests start from is what the migrations make of an empty database', async () => {
  const [empty, copied] = [await freshDatabase(), await migratedDatabase()];
  await migrate(empty.url);
  expect(await migrate(copied.url)).toEqual([]);
  expect(await contentOf(copied.url)).toEqual(await contentOf(empty.url));
  await Promise.all([empty.drop(), copied.drop()]);
});

/** The definition and the rows of each table. */
async function contentOf(url: string): Promise<unknown[]> {
  const dataSource = await new DataSource(migrationOptions(url)).initialize();
  const isMariaDb = __DATABASE__ === 'mariadb';
  const listing = isMariaDb ? 'SHOW TABLES' : 'SELECT name FROM sqlite_master ORDER BY name';
  const tables = await dataSource.query<Record<string, string>[]>(listing);
  const names = tables.flatMap((row) => Object.values(row));
  const content = names.map(async (name) => [
    await dataSource.query(
      isMariaDb ? `SHOW CREATE TABLE ${name}` : `SELECT sql FROM sqlite_master WHERE name = '${name}'`,
    ),
    // An index of SQLite has no rows.
    await dataSource.query(`SELECT * FROM ${name}`).catch(() => []),
  ]);
  expect(names.length).toBeGreaterThan(30);
  return Promise.all(content).finally(() => dataSource.destroy());
}
