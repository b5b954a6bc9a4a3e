import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type * as migrator from '../../../src/platform/database/migrator';

const ROOT = resolve(__dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/migrated');

/** Makes an SQLite file as `migrate` leaves it, as a copy of one that was migrated before. */
export async function copyMigrated(file: string): Promise<void> {
  const made = await once('sqlite', async (template) => migrate(`sqlite:${template}`));
  await copyFile(made, file);
}

/** Fills an empty MariaDB database as `migrate` does, by one script instead of hundreds of statements. */
export async function fillMigrated(url: string): Promise<void> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  try {
    const [[version]] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version');
    const script = await once(`mariadb-${String(version?.version)}`, async (file) => {
      await migrate(url);
      await writeFile(file, await scriptOf(connection));
    });
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    if (tables.length === 0) await connection.query(await readFile(script, 'utf8'));
  } finally {
    await connection.end();
  }
}

function migrate(url: string): Promise<string[]> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- once in many runs, and it loads TypeORM
  return (require('../../../src/platform/database/migrator') as typeof migrator).migrate(url);
}

/** Makes a file that is kept until a migration changes. Of workers that make it together, each makes it whole. */
async function once(name: string, make: (file: string) => Promise<unknown>): Promise<string> {
  const file = join(CACHE, `${name}-${await migrationsDigest()}`);
  if (existsSync(file)) return file;
  await mkdir(CACHE, { recursive: true });
  const part = join(CACHE, randomUUID());
  await make(part);
  await rename(part, file);
  return file;
}

async function migrationsDigest(): Promise<string> {
  const folder = join(ROOT, 'migrations');
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort())
    hash.update(`${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

async function scriptOf(connection: Connection): Promise<string> {
  const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
  const statements = ['SET foreign_key_checks = 0'];
  for (const name of tables.flatMap((row) => Object.values(row) as string[])) {
    const [[row]] = await connection.query<RowDataPacket[]>('SHOW CREATE TABLE ??', [name]);
    statements.push(String(row?.['Create Table']));
    const [columns] = await connection.query<RowDataPacket[]>(
      `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND IS_GENERATED = 'NEVER'`,
      [name],
    );
    const written = columns.map((column) => column.name as string);
    const [rows] = await connection.query<RowDataPacket[]>({ sql: 'SELECT ?? FROM ??', values: [written, name] });
    for (const values of rows) {
      statements.push(
        connection.format('INSERT INTO ?? (??) VALUES (?)', [name, written, written.map((of) => values[of])]),
      );
    }
  }
  return statements.join(';\n');
}
