import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

export const nextMigration = 'NextRelease1999999999999';

/**
 * A migration that only adds, as docs/operations/upgrade.md requires. It adds columns (nullable or with a default) to
 * tables that every request uses, an index, and a new table.
 */
const migration = `
const { Table, TableColumn, TableIndex } = require('typeorm');
exports.${nextMigration} = class ${nextMigration} {
  name = '${nextMigration}';
  async up(runner) {
    // Plain SQL: TypeORM cannot read a table with a generated column (ADR 0025).
    await runner.query('ALTER TABLE users ADD COLUMN locale varchar(16) NULL');
    await runner.addColumn('login_tokens', new TableColumn({ name: 'device', type: 'varchar', length: '64', default: "''" }));
    await runner.addColumn('pending_logins', new TableColumn({ name: 'device', type: 'varchar', length: '64', default: "''" }));
    await runner.createIndex('login_logs', new TableIndex({ name: 'ix_login_logs_outcome', columnNames: ['outcome'] }));
    await runner.createTable(new Table({ name: 'devices', columns: [{ name: 'id', type: 'varchar', length: '36', isPrimary: true }] }));
  }
  async down() {}
};
`;

/** A copy of the built program that represents the next release: it has one more migration, which only adds. */
export class NextVersion {
  private constructor(readonly root: string) {}

  static async build(): Promise<NextVersion> {
    const root = await mkdtemp(join(tmpdir(), 'next-version-'));
    await cp(join(ROOT, 'dist'), join(root, 'dist'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(root, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    await writeFile(join(root, 'dist/migrations/1999999999999-next-release.js'), migration);
    const bundle = join(root, 'dist/src/bundle');
    const more = `require('../../migrations/1999999999999-next-release').${nextMigration}`;
    let changed = 0;
    for (const file of await readdir(bundle)) {
      const former = await readFile(join(bundle, file), 'utf8');
      const next = former.replace(/(exports\.migrations = \[[^\]]+)\]/, `$1, ${more}]`);
      if (next === former) continue;
      await writeFile(join(bundle, file), next);
      changed++;
    }
    if (changed !== 1) throw new Error(`${changed} files of ${bundle} contain a list of migrations: adapt the pattern`);
    return new NextVersion(root);
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
