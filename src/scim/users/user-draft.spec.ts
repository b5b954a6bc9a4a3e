import { operationsOf } from '../protocol/patch';
import { ScimError } from '../protocol/scim-error';
import { draftOf, patched, type UserDraft } from './user-draft';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const user: UserDraft = {
  ...{ userName: 'alice', externalId: 'e1', displayName: 'Alice', active: true },
  ...{ email: 'alice@example.com', department: 'Sales' },
};
const after = (operations: unknown, before = user) => patched(before, operationsOf({ Operations: operations }));
const refusal = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    if (error instanceof ScimError) return error.scimType;
    throw error;
  }
  return undefined;
};

describe('a user after a PATCH', () => {
  it.each([
    ['Replace', 'active', 'False', { active: false, leaves: true }],
    ['replace', 'active', false, { active: false, leaves: true }],
    ['Add', 'active', 'True', { leaves: false }],
    ['REPLACE', 'USERNAME', 'bob', { userName: 'bob' }],
    ['Replace', 'urn:ietf:params:scim:schemas:core:2.0:User:userName', 'bob', { userName: 'bob' }],
    ['Remove', 'externalId', undefined, { externalId: null }],
    ['Remove', 'active', undefined, {}],
    ['Replace', 'displayName', '', { displayName: null }],
    ['Replace', 'emails[type eq "work"].value', 'b@example.com', { email: 'b@example.com' }],
    ['Replace', 'emails[TYPE EQ "WORK"].value', 'b@example.com', { email: 'b@example.com' }],
    ['Replace', 'emails[primary eq true].value', 'b@example.com', { email: 'b@example.com' }],
    ['Replace', 'emails[type eq "work" and primary eq true].value', 'b@example.com', { email: 'b@example.com' }],
    ['Replace', 'emails[value eq "alice@example.com"].value', 'b@example.com', { email: 'b@example.com' }],
    ['Replace', 'emails[not (type eq "home")]', { value: 'b@example.com' }, { email: 'b@example.com' }],
    ['Add', 'emails[type eq "other"].value', 'b@example.com', {}],
    ['Replace', 'emails[value eq "else@example.com"].type', 'home', {}],
    ['Add', 'emails', [{ type: 'work', value: 'b@example.com' }], { email: 'b@example.com' }],
    [
      'Replace',
      'emails',
      [{ value: 'a@example.com' }, { value: 'b@example.com', primary: 'True' }],
      { email: 'b@example.com' },
    ],
    ['Remove', 'emails', undefined, { email: null }],
    ['Remove', 'emails[type eq "work"]', undefined, { email: null }],
    ['Remove', 'emails[type eq "home"]', undefined, {}],
    ['Remove', 'emails', [{ value: 'ALICE@example.com' }], { email: null }],
    ['Remove', 'emails', [{ value: 'else@example.com' }], {}],
    ['Replace', `${enterprise}:department`, 'Legal', { department: 'Legal' }],
    ['Replace', `${enterprise}.department`, 'Legal', { department: 'Legal' }],
    ['Add', enterprise, { department: 'Legal', manager: { value: '7' } }, { department: 'Legal' }],
    ['Remove', `${enterprise}:department`, undefined, { department: null }],
    ['Remove', enterprise, undefined, { department: null }],
    ['Replace', `${enterprise}:manager`, '7', {}],
    ['Replace', 'name.familyName', 'Smith', {}],
    ['Add', 'phoneNumbers[type eq "work"].value', '+49', {}],
    ['Replace', 'password', 'secret', {}],
  ])('%s %s %j', (op, path, value, effect) => {
    expect(after([{ op, path, value }])).toEqual({ ...user, ...effect });
  });

  it('an Add for an address that does not exist makes it', () => {
    const before = { ...user, email: null };
    const [path, value] = ['emails[type eq "work"].value', 'new@example.com'];
    for (const op of ['Add', 'Replace']) expect(after([{ op, path, value }], before).email).toBe(value);
  });

  it('without a path, the value names the attributes, also with dots and URNs', () => {
    const value = {
      active: 'False',
      displayName: 'A',
      'name.givenName': 'B',
      'emails[type eq "work"].value': 'b@example.com',
      [`${enterprise}:department`]: 'Legal',
    };
    const effect = { active: false, leaves: true, displayName: 'A', email: 'b@example.com', department: 'Legal' };
    expect(after([{ op: 'replace', value }])).toEqual({ ...user, ...effect });
    expect(after([{ op: 'Replace', value: { [enterprise]: { department: 'Legal' } } }]).department).toBe('Legal');
  });

  it('the operations count in their order', () => {
    const operations = [
      { op: 'Remove', path: 'emails' },
      { op: 'Add', path: 'emails', value: [{ value: 'b@example.com' }] },
    ];
    expect(after(operations).email).toBe('b@example.com');
  });

  it.each([
    ['no operations', {}, 'invalidSyntax'],
    ['an empty list', { Operations: [] }, 'invalidSyntax'],
    ['an unknown operator', { Operations: [{ op: 'move', path: 'active' }] }, 'invalidSyntax'],
    ['no operator', { Operations: [{ path: 'active', value: true }] }, 'invalidSyntax'],
    ['an operation that is no object', { Operations: [7] }, 'invalidSyntax'],
    ['1,001 operations', { Operations: Array(1001).fill({ op: 'remove', path: 'x' }) }, 'invalidSyntax'],
    ['a removal without a path', { Operations: [{ op: 'remove' }] }, 'noTarget'],
    ['a value that is no object without a path', { Operations: [{ op: 'add', value: 7 }] }, 'invalidValue'],
    ['a path that is no text', { Operations: [{ op: 'add', path: 7 }] }, 'invalidPath'],
    ['a path that is none', { Operations: [{ op: 'add', path: 'emails[', value: 'x' }] }, 'invalidPath'],
    ['a path of 1 MB', { Operations: [{ op: 'add', path: `a[b eq "${'x'.repeat(1e6)}"]` }] }, 'invalidPath'],
    ['active that is no flag', { Operations: [{ op: 'replace', path: 'active', value: 'perhaps' }] }, 'invalidValue'],
    ['a name that is no text', { Operations: [{ op: 'replace', path: 'userName', value: {} }] }, 'invalidValue'],
  ])('%s is refused', (_what, body, scimType) => {
    expect(refusal(() => patched(user, operationsOf(body)))).toBe(scimType);
  });

  it('a name of a prototype changes nothing (T574)', () => {
    after([{ op: 'add', path: 'constructor.prototype.polluted', value: 'yes' }]);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(after([{ op: 'remove', path: 'emails[constructor pr]' }])).toEqual(user);
  });
});

describe('a user of a POST or PUT', () => {
  it('has the attributes that are stored, by names in any case', () => {
    const body = {
      USERNAME: 'bob',
      emails: ['bob@example.com'],
      active: 'False',
      password: 'secret',
      [enterprise]: { Department: 'Legal' },
    };
    const none = { externalId: null, displayName: null };
    expect(draftOf(body)).toEqual({
      ...{ userName: 'bob', email: 'bob@example.com', active: false, department: 'Legal' },
      ...none,
    });
  });

  it('keeps `active` when it is missing, and loses everything else', () => {
    const former = { ...user, active: false };
    const nothing = { externalId: null, displayName: null, email: null, department: null };
    expect(draftOf({ userName: 'alice' }, former)).toEqual({ userName: 'alice', active: false, ...nothing });
    expect(draftOf({ userName: 'alice' }).active).toBe(true);
  });
});
