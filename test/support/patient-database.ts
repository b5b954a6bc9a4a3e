/**
 * Tests of races need an answer of each racer. On a busy machine a burst of 200 requests exceeds the time limits of the
 * service for the database, and 503 is then the right answer. In the tests the limits are therefore ten times as long.
 * A test of the limits themselves says `jest.unmock('../../src/platform/database/time-limits')`.
 */
// eslint-disable-next-line no-restricted-syntax -- changes numbers, not what the module does
jest.mock('../../src/platform/database/time-limits', () => {
  const limits = jest.requireActual<Record<string, number>>('../../src/platform/database/time-limits');
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, 10 * limit]));
});
