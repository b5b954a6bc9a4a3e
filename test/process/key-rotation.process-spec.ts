import { sealedColumns } from '../../src/health/sealed-columns';
import { Fleet } from '../support/fleet';
import { Mailboxes } from '../support/mail/mailboxes';
import { authenticatorCode } from '../support/mfa';
import { addressOf } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { Smtp } from '../support/servers/smtp';
import { dataKey } from '../support/settings';

const [former, fresh] = [dataKey(1), dataKey(2)];
const account = { user: 'portal', password: 'the-password-of-the-mail-server' };
const stepMs = 30_000;

interface Authenticator {
  readonly name: string;
  readonly uid: string;
  readonly secret: string;
  lastStep: number;
}

/** The steps of docs/operations/keys.md on two replicas behind nginx. */
describe('a data key is replaced while people log in', () => {
  let smtp: Smtp;
  let mailboxes: Mailboxes;
  let fleet: Fleet;
  const authenticators: Authenticator[] = [];

  beforeAll(async () => {
    smtp = await Smtp.start({ account });
    mailboxes = new Mailboxes(smtp);
    fleet = await Fleet.start({ MFA_REQUIRED: 'true', DATA_ENCRYPTION_KEY: former });
    const smtpSettings = { HOST: smtp.host, PORT: `${smtp.port}`, USER: account.user, SECRET: account.password };
    for (const [key, value] of Object.entries({ ...smtpSettings, TLS: 'none', SENDER: 'portal@example.com' })) {
      await fleet.cli('config', 'set', 'SMTP', key, value);
    }
    for (const name of ['ann', 'bob', 'cid']) {
      await fleet.givenUser(name);
      authenticators.push(await enrol(name));
    }
  });
  afterAll(async () => {
    await fleet?.stop();
    await smtp.stop();
  });

  const codeOf = (secret: string, step: number) => authenticatorCode(secret, new Date(step * stepMs));
  const currentStep = () => Math.floor(Date.now() / stepMs);

  /** Logs in with a mailed code. Returns the session. */
  async function logInByMail(name: string): Promise<{ uid: string; bearer: string }> {
    const { mfa_token, user_info } = (await fleet.login(name)).body.data;
    const code = /\b\d{6}\b/.exec(await mailboxes.next(addressOf(name)))?.[0];
    const body = { uid: user_info.uid as string, type: 'email', code, mfa_token: mfa_token as string };
    const { status, body: answer } = await fleet.send('/otp-verify', { body });
    expect({ status, answer: answer as unknown }).toMatchObject({ status: 200 });
    return { uid: user_info.uid as string, bearer: answer.data.access_token as string };
  }

  async function openEnrolment(name: string): Promise<{ uid: string; bearer: string; secret: string }> {
    const session = await logInByMail(name);
    const { body } = await fleet.send('/totp-secret', { bearer: session.bearer, body: {} });
    return { ...session, secret: body.data.secret as string };
  }

  /** Confirms with the code of the current time step. The code stays valid in the next step, for a busy machine. */
  async function confirm(name: string, { uid, bearer, secret }: Awaited<ReturnType<typeof openEnrolment>>) {
    const lastStep = currentStep();
    const body = { uid, type: 'totp', code: codeOf(secret, lastStep) };
    expect((await fleet.send('/otp-verify', { bearer, body })).status).toBe(200);
    // Skips the mail that reports the new authenticator.
    await mailboxes.next(addressOf(name));
    return { name, uid, secret, lastStep };
  }

  const enrol = async (name: string) => confirm(name, await openEnrolment(name));

  async function logInByTotp(authenticator: Authenticator): Promise<void> {
    const { name, uid, secret } = authenticator;
    authenticator.lastStep = Math.max(authenticator.lastStep + 1, currentStep());
    // The service accepts codes up to one time step ahead, and each time step only once.
    const reached = () => authenticator.lastStep <= currentStep() + 1;
    await eventually(reached, { what: 'a step whose code was not used yet', interval: 500 });
    const { mfa_token, mfa_type } = (await fleet.login(name)).body.data;
    expect(mfa_type).toBe('totp');
    const body = { uid, type: 'totp', code: codeOf(secret, authenticator.lastStep), mfa_token: mfa_token as string };
    expect((await fleet.send('/otp-verify', { body })).status).toBe(200);
  }

  /** Replaces all replicas by new ones with these keys. For a while, old and new replicas run side by side. */
  async function rollOut(...keys: string[]): Promise<void> {
    fleet.set({ DATA_ENCRYPTION_KEY: keys.join(',') });
    const leaving = [...fleet.services];
    for (const coming of await Promise.all(leaving.map(() => fleet.launch()))) await fleet.admit(coming);
    expect(await fleet.retire(...leaving)).toEqual(leaving.map(() => ({ code: 0, signal: null })));
  }

  const doctor = async () => {
    const { code, answer } = await fleet.run(['doctor']);
    const { status, text } = (answer as any[]).find(({ check }) => check === 'keys');
    return { code, keys: `${status}: ${text}` };
  };

  it('authenticators and the mail server work at every step of the rotation', async () => {
    const [ann, bob, cid] = authenticators as [Authenticator, Authenticator, Authenticator];

    await rollOut(former, fresh);
    expect(await fleet.cli('keys', 'reseal')).toMatchObject({ left: 0, unreadable: 0 });
    await logInByTotp(ann);
    await fleet.givenUser('dan');
    const opened = await openEnrolment('dan');

    await rollOut(fresh, former);
    const { left } = await fleet.cli('keys', 'reseal', '--dry-run');
    // Three values of each of the three authenticators: the active secret, and secret and URI of the enrolment. Two
    // values of the open enrolment. One password of the mail server.
    expect(left).toBe(3 * 3 + 2 + 1);
    expect((await doctor()).keys).toMatch(new RegExp(`^warn: .*; ${left} values wait for keys reseal$`));

    const done = await fleet.cli('keys', 'reseal');
    expect(done).toEqual({
      resealed: {
        'users.topt_secret': 3,
        'totp_secrets.secret': 4,
        'totp_secrets.uri': 4,
        'system_configs.value': 1,
        'mail_outbox.payload': 0,
        'oidc_records.payload': 0,
        'identity_providers.client_secret': 0,
        'event_receivers.secret': 0,
        'event_receivers.old_secret': 0,
      },
      left: 0,
      unreadable: 0,
      recovery_codes_of_former_keys: 0,
    });
    // Two kinds of mails are sealed in one column.
    const names = [...new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`))];
    expect(Object.keys(done.resealed as object)).toEqual(names);
    const again = await fleet.cli('keys', 'reseal');
    expect(Object.values(again.resealed as object)).toEqual(names.map(() => 0));
    expect((await doctor()).keys).toMatch(/^ok: .*; no long-lived value is encrypted with a previous key$/);
    await logInByTotp(bob);
    const dan = await confirm('dan', opened);

    await rollOut(fresh);
    expect(await doctor()).toMatchObject({ code: 0, keys: expect.stringMatching(/^ok: .*1 key$/) });
    for (const authenticator of [cid, dan, ann]) await logInByTotp(authenticator);
    await fleet.givenUser('eve');
    await logInByMail('eve');
    expect(mailboxes.surplus()).toBe(0);
  });

  it('doctor and keys reseal report a missing key, and nothing changes', async () => {
    fleet.set({ DATA_ENCRYPTION_KEY: former });
    const before = await fleet.run(['keys', 'reseal', '--dry-run']);
    expect(before).toMatchObject({ code: 0, answer: { left: 0, unreadable: 13 } });
    const { code, answer, stderr } = await fleet.run(['keys', 'reseal']);
    expect({ code, answer }).toMatchObject({ code: 1, answer: { left: 0, unreadable: 13 } });
    expect(stderr).toBe('13 values open with no DATA_ENCRYPTION_KEY: is a key missing from the list?\n');
    const { code: exit, keys } = await doctor();
    expect({ exit, keys }).toEqual({
      exit: 1,
      keys: expect.stringMatching(/^problem: .*; DATA_ENCRYPTION_KEY does not open 13 stored values$/),
    });
    fleet.set({ DATA_ENCRYPTION_KEY: fresh });
    expect(await fleet.cli('keys', 'reseal')).toMatchObject({ left: 0, unreadable: 0 });
  });
});
