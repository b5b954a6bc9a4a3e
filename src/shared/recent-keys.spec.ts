import { RecentKeys } from './recent-keys';

describe('RecentKeys', () => {
  it('remembers null like any other value', () => {
    const keys = new RecentKeys<Date | null>(4);
    keys.set('a', null, 0, 1000);
    expect(keys.get('a')).toBeNull();
    expect(keys.get('b')).toBeUndefined();
  });

  it('a newer value hides one of the older generation', () => {
    const keys = new RecentKeys<number | null>(2);
    keys.set('a', 1, 0, 1000);
    keys.set('a', null, 0, 1000);
    expect(keys.get('a')).toBeNull();
  });
});
