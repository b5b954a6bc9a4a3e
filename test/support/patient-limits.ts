/**
 * Tests of races need an answer of each racer. On a busy machine a burst of 200 requests exceeds the time limits of the
 * service for the database and the directory, and 503 is then the right answer. In the tests the limits are therefore
 * ten times as long. A test of the limits themselves says `jest.unmock('../../src/platform/database/time-limits')`, or
 * the same with the other module. SQLite waits less: in a test, the lock belongs to a replica in the same process, which
 * cannot give it up while this wait blocks the event loop. Work that found the file locked is repeated.
 */
/* eslint-disable no-restricted-syntax -- changes numbers, not what the modules do */
jest.mock('../../src/platform/database/time-limits', () => ({
  ...tenfold(jest.requireActual<Record<string, number>>('../../src/platform/database/time-limits')),
  sqliteBusyMs: 20,
}));
jest.mock('../../src/directory/ldap-limits', () =>
  tenfold(jest.requireActual<Record<string, number>>('../../src/directory/ldap-limits')),
);

function tenfold(limits: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, 10 * limit]));
}
