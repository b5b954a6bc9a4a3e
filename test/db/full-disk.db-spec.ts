import { checkWrites } from '../../src/admin/checks/database-checks';
import { LoginJournal } from '../../src/audit/login-journal';
import type { ClientInfo } from '../../src/shared/client-info';
import { TestService } from '../support/app';
import { freshDatabase, type TestDatabase } from '../support/database';
import { RunningClock } from '../support/fakes';
import { eventually } from '../support/servers/eventually';
import { MariaDb } from '../support/servers/mariadb';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const mariadb = __DATABASE__ === 'mariadb';

/** One file with a highest size for all tables, so that the server refuses rows as it does on a full disk. */
const smallTablespace = ['--innodb-file-per-table=0', '--innodb-data-file-path=ibdata1:12M:autoextend:max:40M'];

/** The database takes no new rows, and answers everything else. */
describe('a full disk of the database', () => {
  let server: MariaDb | undefined;
  let store: TestDatabase;
  let service: TestService;

  beforeAll(async () => {
    if (mariadb) {
      server = await MariaDb.start(smallTablespace);
      store = { url: await server.freshDatabase(), drop: () => Promise.resolve() };
    } else store = await freshDatabase();
    service = await TestService.start({ MAX_LOCK_COUNT: '100000' }, { store, clock: new RunningClock() });
    await service.givenUser('known');
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  const filler = async (statement: string) =>
    new MariaDbDatabases(server!.url).run(
      statement.replace(/(TABLE|INTO) filler/, `$1 \`${new URL(store.url).pathname.slice(1)}\`.filler`),
    );
  const pragma = async (text: string) => service.database.rows<Record<string, number>>(`PRAGMA ${text}`);

  async function fill(): Promise<void> {
    if (!mariadb) {
      const [row] = await pragma('page_count');
      await pragma(`max_page_count = ${row?.page_count}`);
      return;
    }
    await filler('CREATE TABLE filler (id INT AUTO_INCREMENT PRIMARY KEY, filling TEXT)');
    // First large rows, and then small ones, so that no page is left. Each fits into a page: InnoDB ends its process when it cannot roll
    // back a row that needs pages of its own ("Out of disk space in rollback").
    for (const size of [7000, 1000]) {
      const rows = filler(`BEGIN NOT ATOMIC
        WHILE TRUE DO INSERT INTO filler (filling) VALUES (REPEAT('x', ${size})); END WHILE; END`);
      await expect(rows).rejects.toMatchObject({ code: 'ER_RECORD_FILE_FULL' });
    }
  }

  const client = { ip: '127.0.0.1', userAgent: 'x'.repeat(500), requestId: 'full' } as ClientInfo;
  const refusedLogin = { userId: null, loginName: 'known', provider: 'password', mfa: null, outcome: 'LOGIN_401001' };

  const ready = async () => {
    const { status, body } = await service.get('/health/ready');
    return `${status} ${body.database}`;
  };
  const doctor = async () => checkWrites(service.database, service.app.get(LoginJournal), () => Promise.resolve(true));
  const said = (text: string) => service.logLines.filter(({ msg }) => String(msg).startsWith(text)).length;

  it('a refused login is answered, its lost row is counted, readiness and doctor say why, and all of it ends with the cause', async () => {
    expect(await ready()).toBe('200 ok');
    expect(await doctor()).toMatchObject({ status: 'ok' });
    await fill();
    expect(await doctor()).toEqual({
      check: 'writes',
      status: 'problem',
      text: `the database has no space left on its disk (${mariadb ? 'ER_RECORD_FILE_FULL' : 'SQLITE_FULL'})`,
    });
    const journal = service.app.get(LoginJournal);
    const { lostRows: before } = journal;
    // The rows still fit into the last page for a while. A full InnoDB may refuse the counter of the login first, for want of
    // a page of undo, so there the row is written without a login.
    const lost = async () => {
      if (mariadb) await journal.failed(refusedLogin, client);
      else expect((await service.login('known', 'wrong')).body.error_code).toBe('LOGIN_401001');
      return journal.lostRows > before;
    };
    await eventually(lost, { what: 'a lost row', interval: 0 });
    // A green answer is used again for a second.
    await eventually(async () => (await ready()) === '503 disk full', { what: 'readiness is red' });
    await eventually(() => said('the database has no space left on its disk') === 1, { what: 'one line' });
    // A full InnoDB of one file has no page left for the undo of DROP TABLE.
    if (mariadb) return;
    await pragma('max_page_count = 1000000');
    await eventually(async () => (await ready()) === '200 ok', { what: 'readiness is green again' });
    expect(said('the database takes rows again')).toBe(1);
    expect(await doctor()).toMatchObject({ status: 'ok' });
    // What readiness and doctor tried was rolled back.
    expect(await service.database.rows("SELECT id FROM login_logs WHERE outcome = 'rehearsal'")).toEqual([]);
  });
});
