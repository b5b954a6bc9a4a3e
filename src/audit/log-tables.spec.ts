import { getMetadataArgsStorage } from 'typeorm';
import type { Database } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { UserTraces } from '../platform/database/user-traces';
import type { LoginRow } from './log-sink';
import { auditLog, loginLog } from './log-tables';
import { LoginLogs } from './login-log.repository';
import { AuditLog } from './persistence/audit-log.entity';
import { LoginLog } from './persistence/login-log.entity';

/** The columns of an entity, apart from the generated key. */
const columnsOf = (entity: new () => object) =>
  getMetadataArgsStorage()
    .filterColumns(entity)
    .map(({ options, propertyName }) => options.name ?? propertyName)
    .filter((column) => column !== 'id');

describe('the plain SQL of the logs', () => {
  it.each([
    [loginLog, LoginLog],
    [auditLog, AuditLog],
  ])('a search shows every column of the entity, and filters by no other one: %o', ({ columns, filters }, entity) => {
    expect([...columns, 'created_at'].sort()).toEqual(columnsOf(entity).sort());
    expect(columns).toEqual(expect.arrayContaining(filters.map(([, column]) => column)));
  });

  it('a login writes every column of the entity', async () => {
    const sent: string[] = [];
    const sql = { inserted: (text: string) => Promise.resolve(sent.push(text)) } as unknown as Sql;
    await new LoginLogs(new UserTraces(), {} as Database).insert(sql, {} as LoginRow);
    const columns = /^INSERT INTO login_logs \(([^)]+)\)/.exec(sent[0]!)![1]!.split(', ');
    expect(columns.sort()).toEqual(columnsOf(LoginLog).sort());
  });
});
