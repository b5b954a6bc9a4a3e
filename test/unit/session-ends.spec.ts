import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const src = resolve(__dirname, '../../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(join(src, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') }));
const having = (pattern: RegExp) => files.flatMap(({ file, text }) => (pattern.test(text) ? [file] : [])).sort();
const countOf = (pattern: RegExp) => files.reduce((n, { text }) => n + (text.match(pattern) ?? []).length, 0);

/** What a token of a session depends on: the first row of the session, and the credential version of the user (ADR 0005). */
const ends = {
  row: /is_revoked = 1\b|isRevoked: true/g,
  version: /credential_version = credential_version \+ 1|incremented\('credentialVersion'\)/g,
};

/** The methods that increase the version, and who calls them, in a transaction that calls `markRevoked` as well. */
const callers: Record<string, string[]> = {
  // revokeAll = endEverythingIssued + markRevoked
  endEverythingIssued: ['admin/bulk-revocation.ts', 'sessions/token-revoker.ts'],
  refuseByLook: ['sessions/directory-recheck.ts'],
  setAdmin: ['auth/login/credentials/ldap/directory-follower.ts', 'sessions/directory-recheck.ts'],
  setPassword: ['admin/user-administration.ts', 'password-reset/password-change.ts'],
};

/** docs/adr/0035: whoever ends a session by a new way has to call the port, and to add the way here. */
describe('everything that ends sessions calls the port SessionEnds', () => {
  it('rows of tokens are revoked by one statement, and each of its three callers tells the port', () => {
    expect(having(ends.row)).toEqual(['sessions/persistence/login-token.repository.ts']);
    expect(countOf(ends.row)).toBe(1);
    const { text } = files.find(({ file }) => file === 'sessions/persistence/login-token.repository.ts')!;
    const methods = text.split(/\n {2}(?=(?:async |private |[a-z]\w*\())/);
    const marking = methods.filter((method) => /this\.mark\(/.test(method));
    expect(marking.map((method) => /(\w+)\(/.exec(method.replace(/^async /, ''))![1])).toEqual([
      'revokeSession',
      'revokeOthers',
      'markRevoked',
    ]);
    for (const method of marking) expect(method).toContain('this.ends.tell(');
  });

  it('the credential version grows in five places', () => {
    expect(having(ends.version)).toEqual([
      'users/directory-accounts.ts',
      'users/user-selection.ts',
      'users/users.repository.ts',
    ]);
    expect(countOf(ends.version)).toBe(5);
  });

  it.each(Object.entries(callers))('%s is called only where the rows are marked as well', (method, expected) => {
    const call = new RegExp(`(?:accounts|selection|users)\\.${method}\\(`);
    expect(having(call)).toEqual(expected);
    for (const file of expected) expect(having(/revoker\.markRevoked\(|this\.markRevoked\(/)).toContain(file);
  });
});
