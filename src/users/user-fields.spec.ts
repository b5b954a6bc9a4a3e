import { getMetadataArgsStorage } from 'typeorm';
import { assertWellFormed, type NewUser } from './user-accounts';
import { readFields } from './user-columns';
import { erasedValues, importedFields, userFields } from './user-fields';
import { fileNameOf } from './user-wire';
import { User } from './user.entity';

const columns = getMetadataArgsStorage().filterColumns(User);

describe('the declaration of the fields of a user', () => {
  it('has each column of the entity, and no other one', () => {
    expect(Object.keys(userFields).sort()).toEqual(columns.map(({ propertyName }) => propertyName).sort());
  });

  it('says for each column what a deletion sets, or why it keeps the value', () => {
    const erased = erasedValues({ uid: 'u', at: new Date(0) });
    for (const [column, rules] of Object.entries(userFields)) {
      const reason = 'deletionKeeps' in rules ? rules.deletionKeeps : '';
      expect([column, column in erased, reason.length > 10]).toEqual([column, reason === '', reason !== '']);
    }
  });

  it('has each name once', () => {
    const wire = Object.values(userFields).flatMap((rules) => ('wire' in rules ? [rules.wire] : []));
    expect(new Set(wire).size).toBe(wire.length);
    const inFiles = importedFields.map(fileNameOf);
    expect(new Set(inFiles).size).toBe(inFiles.length);
  });

  it('shows no column that the reads of a user leave out', () => {
    const named = Object.entries(userFields).flatMap(([column, rules]) => ('wire' in rules ? [column] : []));
    expect(readFields).toEqual(expect.arrayContaining(named));
    expect(named).not.toEqual(expect.arrayContaining([expect.stringMatching(/^password$|^salt$|secret|key$/i)]));
  });
});

describe('legacy_login', () => {
  const assert = (more: Partial<NewUser>) =>
    assertWellFormed({ loginName: 'ann', legacyLogin: true, ...more } as NewUser);

  it.each<[string, Partial<NewUser>]>([
    ['a directory user', { provider: 'ldap', passwordHash: null }],
    ['a user of an identity provider', { provider: 'oidc', identityProviderId: 'entra', passwordHash: null }],
    ['a user who has a password', { provider: 'password', passwordHash: 'a hash' }],
  ])('is refused for %s, whom the old system must not let in', (_who, user) => {
    expect(() => assert(user)).toThrow('legacy_login is for a user with the provider password and without a password');
  });

  it('is for a user without a password', () => {
    expect(() => assert({ provider: 'password', passwordHash: null })).not.toThrow();
  });
});
