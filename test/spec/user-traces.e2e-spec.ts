import { Test } from '@nestjs/testing';
import { AppModule } from '../../src/app.module';
import { CliModule } from '../../src/cli/cli.module';
import { AppConfig } from '../../src/settings/app-config';
import type { Sql, SqlValue } from '../../src/platform/database/sql';
import { UserTraces } from '../../src/platform/database/user-traces';
import { TestService } from '../support/app';

/** The columns that name a user. */
const ofUsers = /^(user_id|user_identity|stream)$/;

/** Tables that name a user after the erasure as well, by the uid alone. */
const kept: Record<string, string> = {
  application_logouts: 'the receipts tell which applications were told of the end; they have the uid alone',
  audit_logs: 'the audit tells what happened to the account; it never had more than the uid',
  offboardings: 'the receipt of a person who left; it has the uid alone',
  event_streams: 'the row of a user whose events wait goes with the last one; it has the uid alone',
};

/** Tables of which an export tells nothing. */
const untold: Record<string, string> = {
  event_streams: 'whether an event of the user waits, which the events tell',
};

const uid = '6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c';

describe('the traces of a user', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ ADMIN_API: 'on' });
  });
  afterAll(() => service.stop());

  function columnsOfTables(): Promise<{ of: string; name: string }[]> {
    return service.database.rows(
      __DATABASE__ === 'sqlite'
        ? "SELECT t.name AS of, c.name AS name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
        : `SELECT TABLE_NAME AS of, COLUMN_NAME AS name FROM information_schema.COLUMNS
           WHERE TABLE_SCHEMA = DATABASE()`,
    );
  }

  /** The tables that have a column which names a user. */
  async function tablesOfUsers(): Promise<string[]> {
    const columns = await columnsOfTables();
    return [...new Set(columns.filter(({ name }) => ofUsers.test(name)).map((column) => column.of))].sort();
  }

  it.each([
    ['the server', AppModule],
    ['the command line', CliModule],
  ])(
    'are erased by %s in every table that names a user, apart from those that are kept on purpose',
    async (_, program) => {
      const module = await Test.createTestingModule({ imports: [program.with(service.app.get(AppConfig))] }).compile();
      const { tables } = module.get(UserTraces);
      await module.close();
      expect([...tables, ...Object.keys(kept)].sort()).toEqual(await tablesOfUsers());
    },
  );

  it('are erased by statements about each table that an owner names', async () => {
    const traces = service.app.get(UserTraces);
    const sent: string[] = [];
    const watch = (store: Sql) =>
      (['rows', 'written'] as const).map((method) => {
        const real = store[method].bind(store) as Sql['rows'];
        return jest.spyOn(store, method).mockImplementation((text: string, values?: readonly SqlValue[]) => {
          sent.push(text);
          return real(text, values);
        });
      });
    await service.database.transaction(async (tx) => {
      watch(tx);
      await traces.erase(tx, uid);
    });
    const spies = watch(service.database);
    await traces.settle(uid);
    for (const spy of spies) spy.mockRestore();
    expect(traces.tables.filter((table) => !sent.some((text) => new RegExp(`\\b${table}\\b`).test(text)))).toEqual([]);
  });

  describe('and the export of a user (T598)', () => {
    const toldOf = (of: string) => service.app.get(UserTraces).told.filter(({ table }) => table === of);

    it('tells of every table that names a user', async () => {
      const told = new Set(service.app.get(UserTraces).told.map(({ table }) => table));
      const named = [...(await tablesOfUsers()), 'users', 'cooldowns'].sort();
      expect(named.filter((of) => !told.has(of) && untold[of] === undefined)).toEqual([]);
    });

    it('says of each of their columns whether it is told', async () => {
      const columns = await columnsOfTables();
      for (const { table, user, columns: declared } of service.app.get(UserTraces).told) {
        const named = columns.filter(({ of, name }) => of === table && name !== user).map(({ name }) => name);
        expect({ table, columns: Object.keys(declared).sort() }).toEqual({ table, columns: named.sort() });
      }
    });

    it('leaves out what looks like a secret', async () => {
      const secret = /hash|secret|password|salt|token|payload|code|public_key|credential_id|uri/;
      // Times and names of kinds that have one of these words.
      const harmless = /^(must_change_password|password_id|code_expires|token_type|client_secret_expires)$/;
      for (const { of, name } of await columnsOfTables()) {
        if (!secret.test(name) || harmless.test(name)) continue;
        for (const { columns } of toldOf(of)) {
          if (columns[name] === undefined) continue;
          expect([of, name, columns[name]]).toEqual([of, name, expect.stringMatching(/^(withheld|internal)$/)]);
        }
      }
    });
  });
});
