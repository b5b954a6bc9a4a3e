import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { piecesOf, type Said, sentenceOf, shownValue } from '../../portal/src/admin/parts/sentences';

/** The type checker of the tests cannot follow the imports of the pages. */
const saidIn = (language: string): Said =>
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- see above
  (require(join(__dirname, '../../portal/src/admin/i18n/said', language)) as { said: Said }).said;
const [english, german, chinese] = [saidIn('en'), saidIn('de'), saidIn('zh-CN')];

const source = readFileSync(join(__dirname, '../../src/audit/audit-trail.ts'), 'utf8');
const events = [...(/export type AuditEvent =([^;]+);/.exec(source)![1] ?? '').matchAll(/'(\w+)'/g)].map(
  ([, event]) => event!,
);

/** The sentence of a row as it is read aloud. */
function read(said: Said, event: string, detail: Record<string, unknown>, values: Record<string, string>): string {
  const row = { event, detail, actor_id: values.actor === undefined ? null : 'a' };
  const text = piecesOf(sentenceOf(said, row)!);
  return text.map((piece, n) => (n % 2 === 0 ? piece : (values[piece] ?? shownValue(detail[piece])))).join('');
}

describe('the sentences of the audit log', () => {
  it.each([
    ['English', english],
    ['German', german],
    ['Chinese', chinese],
  ])('every event has one in %s, whoever acted', (_language, said) => {
    expect(events.length).toBeGreaterThan(80);
    for (const event of events) {
      for (const actor_id of [null, 'a']) {
        for (const detail of [{}, { to: 1, is_admin: true }, { to: -1, is_admin: false }]) {
          expect([event, sentenceOf(said, { event, actor_id, detail })]).toEqual([event, expect.stringMatching(/\S/)]);
        }
      }
    }
  });

  it('none is about an event that does not exist', () => {
    const named = [...Object.keys(english.by), ...Object.keys(english.own)].map((key) => key.split('.')[0]!);
    expect(named.filter((event) => !events.includes(event))).toEqual([]);
  });

  it('tell who did what to whom', () => {
    const people = { actor: 'Ada', user: 'Ben' };
    const disabled = { from: 1, to: -1 };
    expect(read(english, 'USER_STATUS_CHANGED', disabled, people)).toBe("Ada disabled Ben's account");
    expect(read(german, 'USER_STATUS_CHANGED', disabled, people)).toBe('Ada hat das Konto von Ben deaktiviert');
    expect(read(chinese, 'USER_STATUS_CHANGED', disabled, people)).toBe('Ada 停用了 Ben 的账户');
    expect(read(english, 'SESSION_CLOSED', {}, { user: 'Ben' })).toBe('Ben signed out of a session');
    expect(read(english, 'CONFIG_CHANGED', { group: 'SMTP', key: 'HOST' }, { actor: 'Ada' })).toBe(
      'Ada changed the setting SMTP HOST',
    );
  });

  it('tell the default brand from that of a tenant', () => {
    const fields = 'name, color';
    expect(read(english, 'BRAND_CHANGED', { tenant: null, fields }, { actor: 'Ada' })).toBe(
      'Ada changed the default brand: name, color',
    );
    expect(read(english, 'BRAND_CHANGED', { tenant: 'acme', fields }, { actor: 'Ada' })).toBe(
      'Ada changed the brand of the tenant acme: name, color',
    );
  });

  it('a value cannot pass for another sentence: it is one line, without marks that turn the direction (T633)', () => {
    expect(shownValue('x\r\nAda deleted Ben\u2028now')).toBe('x Ada deleted Ben now');
    expect(shownValue('x\u202Egnp.exe\u0007')).toBe('x gnp.exe');
    expect([...shownValue('a'.repeat(5000))]).toHaveLength(81);
    expect(shownValue(undefined)).toBe('–');
    expect(shownValue({ a: [1] })).toBe('{"a":[1]}');
    // A family, whose members a format character joins.
    expect(shownValue('👩\u200d👧')).toBe('👩\u200d👧');
    // Braces in a name are no place for a value.
    expect(piecesOf('{actor} left').length).toBe(3);
  });
});
