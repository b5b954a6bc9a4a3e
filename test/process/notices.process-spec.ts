import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tally } from '../support/app';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { Smtp } from '../support/servers/smtp';
import { captchaToken, password, patientDatabase } from '../support/settings';

const preload = pathToFileURL(resolve(__dirname, '../support/short-idle-timer.mjs')).href;
const accounts = 40;

describe('notices of two processes on MariaDB', () => {
  let smtp: Smtp;
  let replicas: Replicas;

  beforeAll(async () => {
    smtp = await Smtp.start();
    replicas = await Replicas.start({
      SMTP_URL: smtp.url,
      NEW_SIGN_IN_NOTICE: 'true',
      HASH_QUEUE_MAX_WAIT_MS: '60000',
    });
  });
  afterAll(async () => {
    await replicas.stop();
    await smtp.stop();
  });

  const sent = (subject: string) => smtp.messages.filter(({ mail }) => mail.subject === subject);
  const queued = async (kind: string) =>
    (await replicas.rows('SELECT status FROM mail_outbox WHERE kind = ?', [kind])).map(({ status }) => Number(status));

  it('20 parallel logins from a new browser send one notice', async () => {
    await replicas.givenUser('alice');
    const login = (agent: string, n = 0) =>
      replicas.post('/login', { username: 'alice', password, captcha_token: captchaToken }, n, { 'user-agent': agent });
    await login('Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0');
    const chrome =
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => login(chrome, n)));
    expect(tally(answers)).toEqual({ success: 20 });
    expect(await queued('new-sign-in')).toHaveLength(1);
    await eventually(() => sent('New sign-in to your account').length === 1, { what: 'the notice' });
    expect(sent('New sign-in to your account')[0]?.mail.text).toContain('Browser: Chrome, Windows');
  });

  it('each owner of an expiring password gets one warning', async () => {
    const uid = await replicas.givenUser('template');
    for (let i = 0; i < accounts; i++) {
      const [copy, name] = [`00000000-0000-4000-8000-0000000000${10 + i}`, `owner${i}`];
      await replicas.rows(
        `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, provider, tenant_id, created_at)
         SELECT ?, ?, ?, ?, ?, password, salt, provider, tenant_id, created_at FROM users WHERE uid = ?`,
        [copy, name, name, `${name}@example.com`, `${name}@example.com`, uid],
      );
      await replicas.rows(
        `INSERT INTO user_change_pwd_logs (user_id, type, password, created_at)
         VALUES (?, 0, 'x', UTC_TIMESTAMP(3) - INTERVAL 80 DAY)`,
        [copy],
      );
    }
    replicas.set({ NODE_OPTIONS: `${patientDatabase.NODE_OPTIONS} --import ${preload}` });
    const processes = await Promise.all([replicas.launch(), replicas.launch()]);
    await eventually(() => sent('Your password expires soon').length >= accounts, { what: 'all warnings' });
    // A process finishes its current search before it stops.
    await Promise.all(processes.map((each) => each.stop()));
    expect(await queued('password-expires')).toHaveLength(accounts);
    const recipients = sent('Your password expires soon').flatMap(({ to }) => to);
    expect(recipients).toHaveLength(accounts);
    expect(new Set(recipients).size).toBe(accounts);
  });
});
