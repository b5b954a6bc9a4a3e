import { DataSource } from 'typeorm';
import { EventOutbox } from '../../src/events/event-outbox';
import type { ServiceEvent } from '../../src/events/outbox/event';
import { AuditLines } from '../../src/events/stream/audit-lines';
import { password, TestService } from '../support/app';
import { countStatements } from '../support/count-statements';
import { webhookFault } from '../support/events/verify-webhook';
import { WebhookReceiver, webhookSecret } from '../support/events/webhook-receiver';
import { eventually } from '../support/servers/eventually';
import { MfaClient, pairOf, wrongCode } from '../support/mfa';

/** The members of requests and answers that no event may contain. */
const secretKey = /^(password|confirm_password|current_password|codes?|secret|uri|req_uid|link)$|token$/;

/** Collects the secrets of all requests and answers of a service. */
function watchSecrets(service: TestService): Set<string> {
  const secrets = new Set<string>();
  const collect = (value: unknown, key = ''): void => {
    if (Array.isArray(value)) for (const one of value) collect(one, key);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) collect(member, name);
    } else if (typeof value === 'string' && value !== '' && secretKey.test(key)) secrets.add(value);
  };
  const send = service.send.bind(service);
  service.send = async (method, path, body, request) => {
    collect(body);
    collect({ token: request?.bearer });
    const answer = await send(method, path, body, request);
    collect(answer.body);
    return answer as never;
  };
  return secrets;
}

/** A code of six digits must not be found inside of an id or a time. */
const contains = (text: string, secret: string) =>
  new RegExp(`(?<![\\w-])${secret.replace(/[^\w]/g, '\\$&')}(?![\\w-])`).test(text);

describe('the events of whole journeys', () => {
  let receiver: WebhookReceiver;
  let mfa: MfaClient;
  let secrets: Set<string>;
  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    mfa = await MfaClient.start({
      ...receiver.settings,
      MFA_TRUSTED_DEVICE_DAYS: '30',
      REFRESH_TOKEN_ROTATION: 'true',
      REFRESH_REUSE_GRACE_SECONDS: '0',
    });
    secrets = watchSecrets(mfa.service);
  });
  afterAll(async () => {
    await mfa.stop();
    await receiver.stop();
  });

  it('contain every row of both logs, signed, and no password, code, token, link or secret (T325)', async () => {
    const { service } = mfa;
    const user = await mfa.givenUser('alice');
    await service.login('alice', 'Wrong-Horse-7');
    await service.login('nobody', 'Wrong-Horse-8');
    const open = await mfa.logInByMail(user);
    await mfa.verify(open.uid, 'email', wrongCode(open.code));
    const { access } = pairOf(await mfa.verify(open.uid, 'email', open.code));
    const { secret } = await mfa.newSecret(access);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
    const { codes } = (await service.post('/recovery-codes', undefined, { bearer: access })).body.data;
    service.clock.advanceSeconds(61);
    const again = await mfa.logIn('alice');
    const trusted = await mfa.verify(again.uid, 'recovery', codes[0], { trust_device: true });
    const { refresh } = pairOf(trusted);
    await service.post('/refresh', { refresh_token: refresh });
    service.clock.advanceSeconds(5);
    await service.post('/refresh', { refresh_token: refresh });
    const device_token = trusted.body.data.device_token as string;
    const byDevice = (await service.login('alice', password, { device_token })).body.data;
    const confirm_password = 'Another-Horse-8';
    const change = { current_password: password, password: confirm_password, confirm_password };
    const changed = await service.post('/user/change-password', change, { bearer: byDevice.access_token });
    expect(changed.status).toBe(200);
    await service.post('/logout', {}, { bearer: changed.body.data.access_token });
    await service.post('/forget-password', { email: user.email });
    const link = (await mfa.mails(user, 'reset-link')).at(-1) as unknown as { link: string };
    const req_uid = new URL(link.link).searchParams.get('uid')!;
    const last = { req_uid, password: 'Another-Horse-9', confirm_password: 'Another-Horse-9' };
    expect((await service.post('/user/change-pwd-by-req', last)).status).toBe(200);
    secrets.add(link.link);
    for (const mail of await mfa.mails(user)) if (mail.kind === 'otp') secrets.add(mail.code);

    const rows = (await service.count('audit_logs')) + (await service.count('login_logs'));
    // The clock of the test jumped while events were sent, so that some leases ended early.
    const arrived = async () => {
      service.clock.advanceSeconds(5);
      await service.app.get(EventOutbox).sendDue();
      return new Set(receiver.accepted.map(({ id }) => id)).size === rows;
    };
    await eventually(arrived, { what: `${rows} events arrive` });
    const sent = receiver.seen.map(({ body }) => body).join('\n');
    for (const type of [
      'login.succeeded',
      'login.failed',
      'user.password_changed',
      'user.password_reset_requested',
      'mfa.code_sent',
      'mfa.code_wrong',
      'totp.enrolled',
      'recovery_codes.used',
      'trusted_device.added',
      'session.refresh_token_reused',
      'session.closed',
    ]) {
      expect(sent).toContain(`"type":"${type}"`);
    }
    for (const event of receiver.seen) {
      const sentAt = new Date(1000 * Number(event.headers['webhook-timestamp']));
      expect(webhookFault(webhookSecret, event, sentAt)).toBeUndefined();
    }
    expect(secrets.size).toBeGreaterThan(25);
    expect([...secrets].filter((one) => contains(sent, one))).toEqual([]);
    // The search finds what is there, also a code of six digits.
    for (const known of [user.uid, 'alice']) expect(contains(sent, known)).toBe(true);
    expect(contains('{"code":"048213"}', '048213')).toBe(true);
  });
});

/** docs/adr/0026-events.md: what a setting costs a login. */
describe('the statements of a login', () => {
  it.each<[string, Record<string, string> | undefined, [number, number]]>([
    ['with both settings off', {}, [7, 2]],
    ['with AUDIT_STREAM=stdout', { AUDIT_STREAM: 'stdout' }, [7, 2]],
    // The success has one row more. The failure needs a transaction for its two rows.
    ['with webhooks, whose receiver is down', undefined, [8, 5]],
  ])('%s', async (_what, settings, [success, failure]) => {
    const receiver = await WebhookReceiver.start();
    await receiver.stop();
    const off = { AUDIT_STREAM: '', WEBHOOK_URL: '', WEBHOOK_SECRET: '', EVENT_RECEIVERS: 'off' };
    const service = await TestService.start({ ...off, ...(settings ?? receiver.settings) });
    const lines: ServiceEvent[] = [];
    service.app.get(AuditLines).add = (event) => void lines.push(event);
    await service.givenUser('counted');
    const statements = countStatements(service.app.get(DataSource));
    await service.login('counted');
    lines.length = 0;
    expect(await statements(async () => expect((await service.login('counted')).status).toBe(200))).toBe(success);
    expect(await statements(async () => expect((await service.login('nobody')).status).toBe(404))).toBe(failure);
    // With webhooks, AuditLines is called and ignores the event.
    const isOff = settings !== undefined && !('AUDIT_STREAM' in settings);
    expect(lines.map(({ type }) => type)).toEqual(isOff ? [] : ['login.succeeded', 'login.failed']);
    // The metric of dropped lines is there only when lines are written.
    const isStreamed = settings?.AUDIT_STREAM !== undefined;
    expect(service.app.get(EventOutbox).droppedLines).toBe(isStreamed ? 0 : undefined);
    await service.stop();
  });
});
