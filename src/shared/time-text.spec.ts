import { storable, timeOfText } from './time-text';

describe('timeOfText', () => {
  it.each([
    ['2026-03-02T10:00:00Z', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02T10:00+02:00', '2026-03-02T08:00:00.000Z'],
    ['2026-03-02T10:00:00.123456789Z', '2026-03-02T10:00:00.123Z'],
  ])('reads %s', (text, time) => {
    expect(timeOfText(text)?.toISOString()).toBe(time);
  });

  it.each(['2026-03-02', '2026-03-02 10:00:00', '2026-03-02T10:00:00', '2026-02-31T10:00:00Z', 'yesterday', ''])(
    'refuses %j',
    (text) => {
      expect(timeOfText(text)).toBeUndefined();
    },
  );
});

describe('storable', () => {
  it.each([
    ['2026-03-02T10:00:00Z', '2026-03-02T10:00:00.000Z'],
    ['9999-12-31T23:59:00-12:00', '9999-12-31T00:00:00.000Z'],
    ['0000-01-01T00:00:00+12:00', '1970-01-01T00:00:00.000Z'],
  ])('%s is kept as %s', (text, kept) => {
    expect(storable(timeOfText(text)!).toISOString()).toBe(kept);
  });
});
