import { breakingChanges } from '../../../scripts/breaking-changes.mjs';
import { brokenPromises, type Recorded } from '../../support/promise/broken-promises';
import { present, presentWire, recorded } from '../../support/promise/present';

/** docs/promise.md: what a version 1 promises, it keeps until a version 2. `npm run promise` records it. */
describe('the promise of version 1', () => {
  // A compiler reads the declarations of the packages, which takes long on a busy machine.
  jest.setTimeout(180_000);

  it('of the wire is kept: every old request is accepted, and no field of an answer is gone', () => {
    expect(breakingChanges(recorded('wire') as never, presentWire() as never)).toEqual([]);
  });

  it.each(Object.keys(present))('of %s is kept: nothing is gone, nothing has changed', async (kind) => {
    expect(brokenPromises(kind, recorded(kind) as Recorded, await present[kind]!())).toEqual([]);
  });

  // A reader that finds nothing would keep every promise.
  it.each([
    ['errors', 'LOGIN_401001'],
    ['tables', 'user_change_password_request'],
    ['settings', 'MAX_LOCK_COUNT'],
    ['command-line', 'user set-password'],
    ['events', 'login.succeeded'],
    ['tokens', 'token_use'],
    ['metrics', 'auth_http_request_duration_seconds'],
    ['sdk', 'PortalAuth'],
    ['guard', 'verifier'],
    ['wire', '/user/change-pwd-by-req'],
  ])('of %s has a record, with %s', (kind, known) => {
    expect(JSON.stringify(recorded(kind))).toContain(`"${known}"`);
  });
});

describe('a broken promise', () => {
  const promised: Recorded = {
    codes: { LOGIN_401001: 401, LOGIN_404001: 404 },
    'user create': { needs: ['argument 1'], options: { '--json': { value: 'none' } } },
    members: ['id', 'event'],
    code: '"LOGIN_401001" | "LOGIN_404001"',
  };

  /** Changes a copy of the record. */
  function after(change: (copy: any) => void): string[] {
    const copy = structuredClone(promised);
    change(copy);
    return brokenPromises('it', promised, copy);
  }

  it.each<[string, (copy: any) => void, string]>([
    ['a name that is gone', (copy) => delete copy.codes.LOGIN_404001, 'it codes LOGIN_404001 is gone'],
    ['a value that changed', (copy) => (copy.codes.LOGIN_401001 = 403), 'it codes LOGIN_401001 was 401 and is 403'],
    [
      'an option that takes a value now',
      (copy) => (copy['user create'].options['--json'].value = 'a value'),
      'it user create options --json value was "none" and is "a value"',
    ],
    ['a member that is gone', (copy) => copy.members.pop(), 'it members no longer has event'],
    ['a literal that is gone', (copy) => (copy.code = '"LOGIN_401001" | "X"'), 'it code no longer has "LOGIN_404001"'],
    ['a set that became something else', (copy) => (copy.members = {}), 'it members no longer has id'],
    [
      'something new that a caller must give',
      (copy) => copy['user create'].needs.push('--email'),
      'it user create now needs --email',
    ],
  ])('is one line that names it: %s', (_case, change, line) => expect(after(change)).toContain(line));

  it('of something that needed nothing is found when it needs something', () => {
    expect(brokenPromises('it', { a: 1 }, { a: 1, needs: ['b'] })).toEqual(['it now needs b']);
  });

  it.each<[string, (copy: any) => void]>([
    ['a new code', (copy) => (copy.codes.LOGIN_409001 = 409)],
    ['a new option', (copy) => (copy['user create'].options['--quiet'] = { value: 'none' })],
    ['a new literal of a union', (copy) => (copy.code += ' | "LOGIN_409001"')],
    ['a new member', (copy) => copy.members.push('tenant')],
    ['an argument that nobody has to give any more', (copy) => copy['user create'].needs.pop()],
  ])('is not an addition: %s', (_case, change) => expect(after(change)).toEqual([]));
});
