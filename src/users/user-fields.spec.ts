import { getMetadataArgsStorage } from 'typeorm';
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
