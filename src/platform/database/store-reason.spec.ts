import { storeReason } from './store-reason';

const denied = (message: string) => Object.assign(new Error(message), { code: 'ER_TABLEACCESS_DENIED_ERROR' });
const by = "denied to user 'canary'@'10.0.0.7' for";

describe('the reason of a failure of the database', () => {
  it.each([
    ['INSERT', 'users', `INSERT command ${by} table \`portal\`.\`users\``],
    ['SELECT', 'migrations', `SELECT command ${by} table 'migrations'`],
    ['SELECT, UPDATE', 'users', `SELECT, UPDATE command ${by} table \`portal\`.\`users\``],
    ['UPDATE', 'users', `UPDATE command ${by} column 'password' in table 'users'`],
  ])('names the missing privilege %s on %s, and neither the account nor its host', (privilege, table, message) => {
    expect(storeReason(denied(message))).toBe(
      `does not grant ${privilege} on ${table} to the account of DATABASE_URL (ER_TABLEACCESS_DENIED_ERROR)`,
    );
  });

  it('finds the privilege in the error of TypeORM as well', () => {
    const driverError = denied(`CREATE command ${by} table \`portal\`.\`users\``);
    expect(storeReason(Object.assign(new Error('QueryFailedError'), { driverError }))).toContain('CREATE on users');
  });

  it.each([
    ['ER_ACCESS_DENIED_ERROR', 'refuses the account of DATABASE_URL'],
    ['ER_OPTION_PREVENTS_STATEMENT', 'is read-only'],
    ['ER_RECORD_FILE_FULL', 'has no space left on its disk'],
    ['SQLITE_FULL', 'has no space left on its disk'],
    ['ECONNREFUSED', 'cannot be reached'],
  ])('%s is called what it is: the database %s', (code, reason) => {
    expect(storeReason(Object.assign(new Error('canary'), { code }))).toBe(`${reason} (${code})`);
  });
});
