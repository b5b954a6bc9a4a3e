import type { Measurement } from '../../../migrations/measurement';
import type { Change, Kind } from '../../platform/database/rehearsal/schema-changes';
import { findingOf, judgeMigrations } from './pending-migrations';

const record: Measurement = {
  ...{ at: '2026-01-01', source: 'a test', rows: { users: 1000, login_logs: 2000 } },
  migrations: {
    Words: {
      ...{ seconds: 14, longestLoginSeconds: 0.1 },
      changes: [
        { table: 'users', kind: 'online', seconds: 4, statements: 2 },
        { table: 'user_words', kind: 'rows', seconds: 10, statements: 5 },
      ],
    },
    Role: { seconds: 0, longestLoginSeconds: 0, changes: [] },
  },
};
const sizes = new Map([
  ['users', { rows: 5000, bytes: 1 }],
  ['login_logs', { rows: 10, bytes: 1 }],
]);
const tried = (migration: string, table: string, kind: Kind, blocks = false): Change => ({
  ...{ migration, table, kind, blocks },
  ...{ statement: 'ALTER TABLE', seconds: 0, rows: 0 },
});
const judge = (name: string, changes?: Change[]) => judgeMigrations([name], changes, sizes, record)[0]!;

describe('the pending migrations of upgrade --check', () => {
  it('the seconds grow with the rows, and a new table is filled from the users', () => {
    const { seconds, kind, judged } = judge('Words', [tried('Words', 'users', 'online')]);
    expect({ seconds, kind, judged }).toEqual({ seconds: 5 * 14, kind: 'rows', judged: 'tried' });
    expect(judge('Words')).toMatchObject({ seconds: 5 * 14, kind: 'rows', judged: 'recorded' });
  });

  it('the server wins over the record: a copy of a table that holds up logins is a no', () => {
    const copied = judge('Role', [tried('Role', 'users', 'rebuild', true)]);
    expect(findingOf({ ...copied, changes: copied.changes.map((one) => ({ ...one, seconds: 3 })) }).status).toBe('no');
    expect(findingOf(copied).status).toBe('warn');
    expect(findingOf(judge('Role', [tried('Role', 'users', 'rebuild')])).status).toBe('warn');
    expect(findingOf(judge('Role', [tried('Role', 'users', 'instant')]))).toMatchObject({
      ...{ status: 'ok', text: 'Role: instant' },
    });
  });

  it('a migration that nobody has judged is unknown, and one that only this server has tried has no time', () => {
    expect(findingOf(judge('Other')).status).toBe('unknown');
    const online = judge('Other', [tried('Other', 'login_logs', 'online')]);
    expect({ seconds: online.seconds, ...findingOf(online) }).toEqual({
      ...{ seconds: null, check: 'migrations', status: 'ok' },
      text: 'Other: online login_logs (10 rows, not measured)',
    });
  });
});
