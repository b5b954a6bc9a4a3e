import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { auditTypes, loginTypes, webhookTestType } from '../../src/events/event-types';

/** A receiver cannot handle a type that the page does not name. */
describe('docs/operations/events.md', () => {
  const page = readFileSync(resolve(__dirname, '../../docs/operations/events.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+\.\w+)` +\| (?:`([A-Z_]+)`)?/gm)].map(([, type, event]) => [event, type]);

  it('names each type with its audit event, and no other', () => {
    const withoutAudit = [...Object.values(loginTypes), webhookTestType];
    const expected = [...withoutAudit.map((type) => [undefined, type]), ...Object.entries(auditTypes)];
    expect(rows.map(String).sort()).toEqual(expected.map(String).sort());
  });

  it('no two events have the same type, and each looks like `user.password_changed`', () => {
    const types = [...Object.values(auditTypes), ...Object.values(loginTypes), webhookTestType];
    expect(new Set(types).size).toBe(types.length);
    expect(types.filter((type) => !/^[a-z_]+\.[a-z_]+$/.test(type))).toEqual([]);
  });
});
