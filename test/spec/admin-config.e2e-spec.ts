import { openSmtpSecret } from '../../src/mail/smtp-secret';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { MailLimits } from '../../src/mail/mail-limits';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { Smtp } from '../support/servers/smtp';

const secret = 'the mail password 7';

describe('the settings through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let smtp: Smtp;

  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, MAIL_FROM: 'no-reply@portal.test' });
    root = await AdminClient.of(service, 'root-admin');
    smtp = await Smtp.start({ account: { user: 'mailer', password: secret } });
  });
  afterAll(async () => {
    await smtp.stop();
    await service.stop();
  });
  beforeEach(async () => {
    await service.database.affected('DELETE FROM system_configs');
    await service.database.affected('DELETE FROM audit_logs');
    service.clock.advanceSeconds(1);
    root = await root.again('root-admin');
    smtp.accept();
  });

  const put = (path: string, value: unknown) => root.send('PUT', `config/${path}`, { value });
  const stored = async (group: string, key: string) =>
    (
      await service.database.row<{ value: string }>(
        'SELECT value FROM system_configs WHERE tenant_id = ? AND `group` = ? AND `key` = ?',
        ['root', group, key],
      )
    )?.value;
  const audit = () =>
    service.database.rows<{ event: string; actor_id: string; detail: string }>(
      'SELECT event, actor_id, detail FROM audit_logs ORDER BY id',
    );
  const givenMailServer = async () => {
    for (const [key, value] of [
      ['HOST', smtp.host],
      ['PORT', String(smtp.port)],
      ['TLS', 'none'],
      ['USER', 'mailer'],
      ['SECRET', secret],
    ] as const) {
      expect(outcomeOf(await put(`SMTP/${key}`, value))).toBe('success');
    }
    service.clock.advanceSeconds(1);
  };

  it('lists each known setting, set or not, and no other row', async () => {
    await service.database.affected("INSERT INTO system_configs VALUES ('root', 'SMTP', 'PASSWORD', 'canary')");
    await put('SMTP/HOST', ' mail.example.com ');
    const unset = { value: null, secret: false, set: false };
    expect(await root.items('config')).toEqual([
      { group: 'CONFIG', key: 'PASSWORD_POLICY', ...unset },
      { group: 'SMTP', key: 'HOST', value: 'mail.example.com', secret: false, set: true },
      ...['PORT', 'SENDER', 'USER', 'TLS'].map((key) => ({ group: 'SMTP', key, ...unset })),
      { group: 'SMTP', key: 'SECRET', value: null, secret: true, set: false },
    ]);
  });

  it('a secret is stored sealed, and is in no answer, no audit row and no log line (T318)', async () => {
    const answers = [await put('SMTP/SECRET', secret), await root.get('config'), await root.get('audit-logs')];
    expect(await root.items('config')).toContainEqual({
      group: 'SMTP',
      key: 'SECRET',
      value: null,
      secret: true,
      set: true,
    });
    const sealed = (await stored('SMTP', 'SECRET'))!;
    expect(openSmtpSecret(service.app.get(KeyRing), sealed)).toBe(secret);
    const seen = JSON.stringify([answers.map(({ body }) => body as unknown), await audit(), service.logLines]);
    expect(seen).not.toContain(secret);
    expect(seen).not.toContain(sealed);
    expect(await audit()).toMatchObject([
      { event: 'CONFIG_CHANGED', actor_id: root.uid, detail: '{"tenant":"root","group":"SMTP","key":"SECRET"}' },
    ]);
  });

  it.each([
    ['CONFIG/PASSWORD_POLICY', 'no json', 'value'],
    ['CONFIG/PASSWORD_POLICY', '{"min_length":0}', 'value'],
    ['CONFIG/PASSWORD_POLICY', '{"min_lenght":16}', 'value'],
    ['SMTP/PORT', '65536', 'value'],
    ['SMTP/PORT', '25 ', undefined],
    ['SMTP/PORT', 25, 'value'],
    ['SMTP/SECRET', '', 'value'],
    ['SMTP/SECRET', 'x'.repeat(10_001), 'value'],
    ['SMTP/PASSWORD', 'x', 'key'],
    ['SMTP%20/SECRET', 'x', 'group'],
    ['SMTP/SECRET%20', 'x', 'key'],
    ['__proto__/constructor', 'x', 'group'],
    ['OTHER/KEY', 'x', 'group'],
  ])(
    'PUT %s with a wrong value or name (%#) is judged as `config set` does, and the answer names the field',
    async (path, value, field) => {
      const answer = await put(path, value);
      expect(outcomeOf(answer)).toBe(field === undefined ? 'success' : 'COMMON_400001');
      expect(Object.keys((answer.body.data?.fields as object | undefined) ?? {})).toEqual(field ? [field] : []);
      expect(await audit()).toHaveLength(field ? 0 : 1);
    },
  );

  it('an unknown field beside the value, and an unknown setting to remove, are refused', async () => {
    expect(outcomeOf(await root.send('PUT', 'config/SMTP/HOST', { value: 'a', tenant: 'acme' }))).toBe('COMMON_400001');
    expect(outcomeOf(await root.send('DELETE', 'config/SMTP/PASSWORD'))).toBe('COMMON_400001');
    expect(await audit()).toEqual([]);
  });

  it('a policy takes effect within a second in another process, and its removal too', async () => {
    const other = await TestService.start(adminSettings, { clock: service.clock, store: service.store });
    try {
      const shortest = async () => {
        service.clock.advanceSeconds(1);
        return (await other.get('/password-policy')).body.data.min_length;
      };
      expect(await shortest()).toBe(12);
      expect(outcomeOf(await put('CONFIG/PASSWORD_POLICY', '{"min_length":20}'))).toBe('success');
      expect(await shortest()).toBe(20);
      expect(outcomeOf(await root.send('DELETE', 'config/CONFIG/PASSWORD_POLICY'))).toBe('success');
      expect(await shortest()).toBe(12);
      expect(outcomeOf(await root.send('DELETE', 'config/CONFIG/PASSWORD_POLICY'))).toBe('success');
      // The second removal has changed nothing.
      expect(await audit()).toHaveLength(2);
    } finally {
      await other.stop({ keepStore: true });
    }
  });

  it('parallel writes of one new setting all succeed, and one of the values is stored', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put('SMTP/HOST', `mail${n}.example.com`)));
    expect(answers.map(outcomeOf)).toEqual(Array(8).fill('success'));
    expect(await stored('SMTP', 'HOST')).toMatch(/^mail\d\.example\.com$/);
    expect(await audit()).toHaveLength(8);
  });

  describe('the password of the mail server', () => {
    it.each<[string, Record<string, string>, change: [key: string, value?: string]]>([
      ['another HOST', {}, ['HOST', 'evil.example.com']],
      ['the removal of HOST', {}, ['HOST']],
      ['another PORT', {}, ['PORT', '2525']],
      ['the removal of PORT', {}, ['PORT']],
      ['no TLS', { TLS: 'starttls' }, ['TLS', 'none']],
      ['no TLS instead of the default', { TLS: '' }, ['TLS', 'none']],
      ['STARTTLS instead of TLS from the start', { TLS: 'tls' }, ['TLS', 'STARTTLS']],
      ['the removal of TLS', { TLS: 'tls' }, ['TLS']],
    ])('is never sent to another server or in clear text: %s removes it (T318)', async (_what, given, [key, value]) => {
      await givenMailServer();
      for (const [name, former] of Object.entries(given)) {
        await (former === '' ? root.send('DELETE', `config/SMTP/${name}`) : put(`SMTP/${name}`, former));
      }
      await put('SMTP/SECRET', secret);
      const change = value === undefined ? root.send('DELETE', `config/SMTP/${key}`) : put(`SMTP/${key}`, value);
      expect(outcomeOf(await change)).toBe('success');
      expect(await stored('SMTP', 'SECRET')).toBeUndefined();
      expect((await audit()).at(-1)?.detail).toContain('"secret_removed":true');
    });

    it('is not sent to a HOST that is set when there was none', async () => {
      // Also when there was no HOST, because the former one was removed by plain SQL.
      await put('SMTP/SECRET', secret);
      await put('SMTP/HOST', 'evil.example.com');
      expect(await stored('SMTP', 'SECRET')).toBeUndefined();
    });

    it('stays with the same HOST and PORT, with the same or a stronger TLS, and with another SENDER or USER', async () => {
      await givenMailServer();
      await put('SMTP/HOST', ` ${smtp.host} `);
      await put('SMTP/PORT', String(smtp.port));
      for (const tls of ['none', 'NONE', 'starttls', 'tls', 'tls']) await put('SMTP/TLS', tls);
      await put('SMTP/SENDER', 'a@portal.test');
      await put('SMTP/USER', 'other');
      expect(await stored('SMTP', 'SECRET')).toBeDefined();
    });

    it.each([
      ['HOST', ['evil0.example.com', 'evil1.example.com']],
      ['PORT', ['2525', '2526']],
      ['TLS', ['none', 'starttls']],
    ])('is gone after any number of parallel changes of %s', async (key, values) => {
      await givenMailServer();
      await put('SMTP/TLS', 'tls');
      await put('SMTP/SECRET', secret);
      await Promise.all(Array.from({ length: 8 }, (_, n) => put(`SMTP/${key}`, values[n % 2])));
      expect(await stored('SMTP', 'SECRET')).toBeUndefined();
    });
  });

  describe('the test of the mail settings', () => {
    const test = async (to: unknown = 'person@example.com') => {
      const answer = await root.send('POST', 'config/smtp-test', { to });
      return answer.status === 200 ? answer.body.data : outcomeOf(answer);
    };

    it('sends a real mail with the stored settings, and is audited', async () => {
      await givenMailServer();
      const before = smtp.messages.length;
      expect(await test()).toEqual({ result: true });
      const [mail] = (await smtp.waitFor(before + 1)).slice(before);
      expect(mail).toMatchObject({ to: ['person@example.com'], from: 'no-reply@portal.test', user: 'mailer' });
      expect(mail?.mail.subject).toBe('Test message');
      expect(mail?.mail.text).toContain('portal.test');
      expect((await audit()).at(-1)).toMatchObject({
        event: 'SMTP_TESTED',
        actor_id: root.uid,
        detail: '{"domain":"example.com"}',
      });
    });

    it('answers what the server said, without the password (T319)', async () => {
      await givenMailServer();
      smtp.refuse(550, 'recipient');
      expect(await test()).toEqual({ result: false, reply: 'RCPT TO: 550 Mailbox unavailable' });
      await put('SMTP/SECRET', 'a wrong password');
      service.clock.advanceSeconds(1);
      const refused = await test();
      expect(refused).toEqual({
        result: false,
        reply: expect.stringMatching(/^AUTH [A-Z]+: 535 Authentication failed$/),
      });
    });

    it('says why there was no conversation', async () => {
      await givenMailServer();
      await smtp.stop();
      expect(await test()).toEqual({ result: false, reply: expect.stringContaining('ECONNREFUSED') });
      await smtp.restart();
      await service.database.affected(
        "UPDATE system_configs SET value = 'zero' WHERE `group` = 'SMTP' AND `key` = 'PORT'",
      );
      service.clock.advanceSeconds(1);
      expect(await test()).toEqual({ result: false, reply: 'SMTP PORT must be from 1 to 65535' });
    });

    it('ends in time when the server does not answer', async () => {
      await givenMailServer();
      const limits = service.app.get<{ testMs: number }>(MailLimits);
      const former = limits.testMs;
      limits.testMs = 300;
      smtp.hang('text');
      try {
        expect(await test()).toEqual({ result: false, reply: 'no answer within 0.3 s' });
      } finally {
        limits.testMs = former;
      }
    });

    it.each(['a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com', 'Person <a@example.com>', '', 7])(
      '%j is not one address: COMMON_400001, no connection and no audit row (T319)',
      async (to) => {
        await givenMailServer();
        const { connectionCount } = smtp;
        const rows = (await audit()).length;
        expect(await test(to)).toBe('COMMON_400001');
        expect(smtp.connectionCount).toBe(connectionCount);
        expect(await audit()).toHaveLength(rows);
      },
    );

    it('no mail leaves the service without its audit row (T319)', async () => {
      await givenMailServer();
      const before = smtp.connectionCount;
      await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
      try {
        expect(await test()).toBe('COMMON_503001');
      } finally {
        await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
      }
      expect(smtp.connectionCount).toBe(before);
    });
  });
});
