import { FakeClock } from '../../test/support/fakes';
import type { PasswordSettings } from '../users/password-settings';
import type { NewUser } from '../users/user-accounts';
import { PasswordAges } from './password-ages';

const day = 86_400_000;
const clock = new FakeClock();
const now = clock.now().getTime();

function ages(expireDays = 90, expiryWarnDays = [14, 7, 1]) {
  const counts = { unknown: 0, expired: 0 };
  const subject = new PasswordAges({ expireDays, expiryWarnDays } as unknown as PasswordSettings, clock);
  const ageOf = (user: Partial<NewUser>) => {
    const { passwordSetAt } = subject.assigned({ loginName: 'anna', passwordHash: 'x', ...user } as NewUser, counts);
    return passwordSetAt && (now - passwordSetAt.getTime()) / day;
  };
  return { ageOf, counts, warnings: () => subject.warnings(counts) };
}

const people = Array.from({ length: 1000 }, (_, n) => ({ uid: `person-${n}` }));

describe('the age of a password from another system', () => {
  it('is spread where it is unknown: no day has all expiries, and each owner is warned before', () => {
    const { ageOf, counts, warnings } = ages();
    const found = people.map((person) => ageOf(person)!);
    expect(Math.min(...found)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...found)).toBeLessThan(76);
    const perDay = new Map<number, number>();
    for (const age of found) perDay.set(Math.floor(age), (perDay.get(Math.floor(age)) ?? 0) + 1);
    expect(perDay.size).toBe(76);
    expect(Math.max(...perDay.values())).toBeLessThan(30);
    expect(counts).toEqual({ unknown: 1000, expired: 0 });
    expect(warnings()).toEqual([
      '1000 passwords have no password_set_at: they will expire one after the other, within 76 days from 2026-03-16 on',
    ]);
  });

  it('is the same for the same account in each run, also for one without a uid, however its name is typed', () => {
    expect(people.map((person) => ages().ageOf(person))).toEqual(people.map((person) => ages().ageOf(person)));
    expect(ages().ageOf({ loginName: ' Anna' })).toBe(ages().ageOf({ loginName: 'anna' }));
    expect(ages().ageOf({ loginName: 'bert' })).not.toBe(ages().ageOf({ loginName: 'anna' }));
  });

  it('is not greater than that of the account', () => {
    const { ageOf } = ages();
    const found = people.map((person) => ageOf({ ...person, createdAt: new Date(now - 5 * day) })!);
    expect(Math.max(...found)).toBe(5);
  });

  it('stays what the other system says, and a dry run tells how many passwords have expired', () => {
    const { ageOf, counts, warnings } = ages();
    expect([400, 91, 90, 0].map((age) => ageOf({ passwordSetAt: new Date(now - age * day) }))).toEqual([
      400, 91, 90, 0,
    ]);
    expect(counts).toEqual({ unknown: 0, expired: 2 });
    expect(warnings()).toEqual([
      '2 passwords are older than PASSWORD_EXPIRE_DAYS (90) and must be changed at the next login',
    ]);
  });

  it.each<[string, ReturnType<typeof ages>, Partial<NewUser>]>([
    ['for a user without a password', ages(), { passwordHash: null }],
    ['where passwords do not expire', ages(0), {}],
  ])('is not made up %s', (_what, { ageOf, warnings }, user) => {
    expect(ageOf(user)).toBeUndefined();
    expect(warnings()).toBeUndefined();
  });

  it.each<[string, number, number[], number]>([
    ['no warnings are sent', 90, [], 90],
    ['a warning would come on the first day', 10, [14, 7, 1], 3],
  ])('uses all days that leave time for the first warning where %s', (_what, expireDays, warnDays, days) => {
    const { ageOf } = ages(expireDays, warnDays);
    const found = people.map((person) => Math.floor(ageOf(person)!));
    expect(new Set(found).size).toBe(days);
    expect(Math.max(...found)).toBe(days - 1);
  });
});
