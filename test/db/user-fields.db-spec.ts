import { DataSource } from 'typeorm';
import { columnOf } from '../../src/users/user-columns';
import { erasedValues, type UserColumn, userFields } from '../../src/users/user-fields';
import { User } from '../../src/users/user.entity';
import { UserTombstones } from '../../src/users/user-tombstones';
import { TestService } from '../support/app';

describe('the deletion of a user', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  /** A value of the type of the column that is not the one of a deletion. */
  const samples: Partial<Record<UserColumn, unknown>> = { provider: 'ldap', mfaType: 'totp', status: 1 };

  it('writes each column of `users` as its declaration says, and keeps the others (T321)', async () => {
    const { uid } = await service.givenUser('erased');
    const { columns } = service.app.get(DataSource).getRepository(User).metadata;
    const filled = Object.fromEntries(
      columns.flatMap(({ propertyName, type }) => {
        const column = propertyName as UserColumn;
        const sample =
          type === 'datetime'
            ? new Date(Date.UTC(2031, 0, 2))
            : type === 'boolean'
              ? true
              : type === 'integer'
                ? 7
                : 'x';
        const open = ['uid', 'tenantId', 'deletedAt', 'erasingSince'].includes(column);
        return open ? [] : [[column, samples[column] ?? sample]];
      }),
    ) as Partial<Record<UserColumn, string | number | boolean | Date>>;
    const set = Object.keys(filled) as UserColumn[];
    await service.database.affected(
      `UPDATE users SET ${set.map((column) => `${columnOf(column)} = ?`).join(', ')} WHERE uid = ?`,
      [...Object.values(filled), uid],
    );
    const read = () =>
      service.app
        .get(DataSource)
        .getRepository(User)
        .findOne({
          where: { uid },
          select: Object.fromEntries(columns.map(({ propertyName }) => [propertyName, true])),
        });
    const before = (await read())!;

    const at = service.clock.now();
    await service.database.transaction((tx) => service.app.get(UserTombstones).bury(tx, uid));

    const after = (await read())!;
    const expected = { ...before, ...erasedValues({ uid, at }) };
    for (const column of Object.keys(userFields) as UserColumn[]) {
      expect([column, after[column]]).toEqual([column, expected[column]]);
      const rules = userFields[column];
      if ('deletionSets' in rules) expect([column, after[column]]).not.toEqual([column, before[column]]);
    }
  });
});
