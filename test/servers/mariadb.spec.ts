import { access } from 'node:fs/promises';
import { dirname } from 'node:path';

import { createConnection } from 'mysql2/promise';

import { MariaDb } from '../support/servers/mariadb';
import { staysSilent } from './silence';

describe('MariaDb', () => {
  let server: MariaDb;

  beforeAll(async () => {
    server = await MariaDb.start();
  });

  afterAll(() => server.stop());

  async function connect(url: string) {
    return createConnection({ uri: url, connectTimeout: 30_000 });
  }

  it('creates an empty utf8mb4 database that stores text of every script', async () => {
    const connection = await connect(await server.freshDatabase('scripts'));
    await connection.query('CREATE TABLE note (words VARCHAR(20))');
    await connection.query('INSERT INTO note VALUES (?)', ['álice 登录 🔑']);
    expect((await connection.query('SELECT words FROM note'))[0]).toEqual([{ words: 'álice 登录 🔑' }]);
    await connection.end();

    const again = await connect(await server.freshDatabase('scripts'));
    expect((await again.query('SHOW TABLES'))[0]).toEqual([]);
    await again.end();
  });

  it('refuses every account but that of the tests', async () => {
    const stranger = new URL(server.url);
    stranger.username = 'root';
    stranger.password = '';
    await expect(connect(stranger.toString())).rejects.toMatchObject({ code: 'ER_ACCESS_DENIED_ERROR' });
  });

  it('allows 400 connections', async () => {
    const connection = await connect(server.url);
    const [rows] = await connection.query('SELECT @@max_connections AS allowed');
    expect(rows).toEqual([{ allowed: 400 }]);
    await connection.end();
  });

  it('counts a deadlock only for the database in which it happened', async () => {
    const url = await server.freshDatabase('crossing');
    const elsewhere = await server.freshDatabase('elsewhere');
    const [one, other] = [await connect(url), await connect(url)];
    await one.query('CREATE TABLE lane (id INT PRIMARY KEY, cars INT)');
    await one.query('INSERT INTO lane VALUES (1, 0), (2, 0)');
    expect(await server.deadlocks(url)).toEqual([]);

    await one.beginTransaction();
    await other.beginTransaction();
    await one.query('UPDATE lane SET cars = 1 WHERE id = 1');
    await other.query('UPDATE lane SET cars = 1 WHERE id = 2');
    const outcomes = await Promise.allSettled([
      one.query('UPDATE lane SET cars = 1 WHERE id = 2'),
      other.query('UPDATE lane SET cars = 1 WHERE id = 1'),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    one.destroy();
    other.destroy();

    expect(await server.deadlocks(url)).toHaveLength(1);
    expect(await server.deadlocks(elsewhere)).toEqual([]);
  });

  it('does not answer a query while suspended, and answers it when resumed', async () => {
    const connection = await connect(server.url);
    await server.suspend();
    const answer = connection.query('SELECT 1 AS one').then(([rows]) => rows);
    expect(await staysSilent(answer)).toBe(true);
    await server.resume();
    expect(await answer).toEqual([{ one: 1 }]);
    await connection.end();
  });

  it('keeps committed rows and its port through a kill and a restart', async () => {
    const url = await server.freshDatabase('survivor');
    const connection = await connect(url);
    connection.on('error', () => undefined);
    await connection.query('CREATE TABLE kept (id INT PRIMARY KEY)');
    await connection.query('INSERT INTO kept VALUES (7)');
    await server.kill();
    await expect(connect(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.restart();
    const again = await connect(url);
    expect((await again.query('SELECT id FROM kept'))[0]).toEqual([{ id: 7 }]);
    await again.end();
  });

  it('has ended after stop, and its data is deleted', async () => {
    const { url, logFile, pid } = server;
    await access(logFile);
    await server.stop();
    await expect(connect(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(access(dirname(logFile))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
