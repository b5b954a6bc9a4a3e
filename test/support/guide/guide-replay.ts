import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { openMail } from '../../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../../src/platform/crypto/key-ring';
import { SessionOpener } from '../../../src/sessions/session-opener';
import type { User } from '../../../src/users/user.entity';
import type { Answer, TestService } from '../app';
import { SoftAuthenticator } from '../authenticator';
import type { DirectoryStub } from '../directory-stub';
import { authenticatorCode } from '../mfa';
import { captchaToken } from '../settings';
import type { Flow, Step } from './guide-page';
import { Placeholders } from './placeholders';

/** The client of all requests. The page shows both where an answer contains them. */
const ip = '203.0.113.7';
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

interface Parts {
  readonly service: TestService;
  readonly directory: DirectoryStub;
  /** The text of the page. */
  readonly page: string;
  /** The origin of the pages, for the browser that has passkeys. */
  readonly origin: string;
}

/** Replays one flow: sends each request as it stands on the page and compares the answer. */
export class GuideReplay {
  readonly service: TestService;
  readonly directory: DirectoryStub;
  readonly page: string;
  readonly values: Placeholders;
  private readonly browser: SoftAuthenticator;
  private lastBody: any;

  /** The origin of the pages. */
  readonly origin: string;

  constructor({ service, directory, page, origin }: Parts) {
    this.origin = origin;
    this.service = service;
    this.directory = directory;
    this.page = page;
    this.values = new Placeholders(() => service.clock.now());
    this.browser = new SoftAuthenticator(origin, { synced: true });
  }

  /** Opens a session of the user and gives its tokens the names of the page. @param suffix for example `_2` */
  async session(user: User, { mfa = null, suffix = '' }: { mfa?: 'totp' | null; suffix?: string } = {}): Promise<void> {
    const client = { ip, userAgent, language: 'en', requestId: 'guide', signal: new AbortController().signal } as const;
    const pair = await this.service.app.get(SessionOpener).open(user, client, mfa);
    this.values.set(`access_token${suffix}`, pair.accessToken);
    this.values.set(`refresh_token${suffix}`, pair.refreshToken);
  }

  async run({ steps }: Flow): Promise<void> {
    for (const step of steps) {
      this.service.clock.advanceSeconds(step.waitSeconds);
      await this.supply(step.request);
      const answer = await this.send(step.request);
      const difference = this.differenceOf(step.answer, answer);
      if (difference !== undefined) {
        const { method, path } = step.request;
        throw new Error(
          `docs/integration.md:${step.line}: ${method} ${path}: ${difference}\n` +
            `the service answered ${answer.status} ${JSON.stringify(answer.body ?? answer.raw.toString('latin1'), null, 2)}`,
        );
      }
      this.lastBody = answer.body;
    }
  }

  private send({ method, path, headers, body }: Step['request']): Promise<Answer> {
    const filled = Object.entries(headers).map(([name, value]) => [name, this.values.fill(value)]);
    return this.service.send(
      method as Parameters<TestService['send']>[0],
      this.values.fill(path),
      body === '' ? undefined : this.values.fill(body),
      { ip, headers: { 'user-agent': userAgent, ...(Object.fromEntries(filled) as Record<string, string>) } },
    );
  }

  private differenceOf(expected: Step['answer'], answer: Answer): string | undefined {
    if (answer.status !== expected.status) return `status ${answer.status}`;
    for (const [name, value] of Object.entries(expected.headers)) {
      const given = answer.headers[name];
      if (given === undefined || !this.values.matches(value, String(given))) return `header ${name}: ${String(given)}`;
    }
    if (answer.body !== undefined && expected.body !== '') return this.values.difference(expected.body, answer.body);
    return this.values.matches(expected.body, answer.raw.toString('latin1')) ? undefined : 'another body';
  }

  /** Gives values to the placeholders that no answer contains: from the captcha, a mail, an app or a browser. */
  private async supply(request: Step['request']): Promise<void> {
    const text = [request.path, request.body, ...Object.values(request.headers)].join('\n');
    const needs = (name: string) => text.includes(`{${name}}`);
    if (needs('captcha_token')) this.values.set('captcha_token', await this.captcha());
    if (needs('otp')) this.values.set('otp', await this.mailed('otp'));
    if (needs('link_uid')) this.values.set('link_uid', await this.mailed('reset-link'));
    if (needs('totp')) this.values.set('totp', authenticatorCode(this.values.get('secret')!, this.service.clock.now()));
    if (needs('attestation_object')) this.create();
    if (needs('authenticator_data')) this.assert();
  }

  /** The solution of the challenge that the flow has fetched. Other flows use the test token, which costs no work. */
  private async captcha(): Promise<string> {
    const challenge = this.lastBody as Challenge | undefined;
    if (challenge?.parameters === undefined) return captchaToken;
    const solution = await solveChallenge({ challenge, deriveKey });
    return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
  }

  private async mailed(kind: 'otp' | 'reset-link'): Promise<string> {
    const [row] = await this.service.database.rows<{ payload: string }>(
      'SELECT payload FROM mail_outbox WHERE kind = ? AND payload IS NOT NULL ORDER BY created_at DESC LIMIT 1',
      [kind],
    );
    const mail = row && openMail(this.service.app.get(KeyRing), row.payload);
    if (mail?.kind === 'otp') return mail.code;
    if (mail?.kind === 'reset-link') return String(new URL(mail.link).searchParams.get('uid'));
    throw new Error(`no mail of the kind ${kind} was queued`);
  }

  private create(): void {
    const { id, response } = this.browser.create(this.lastBody.data);
    this.values.set('credential_id', id as string);
    this.values.set('client_data', response.clientDataJSON as string);
    this.values.set('attestation_object', response.attestationObject as string);
  }

  private assert(): void {
    const { id, response } = this.browser.get(this.lastBody.data.options);
    this.values.set('credential_id', id as string);
    this.values.set('client_data', response.clientDataJSON as string);
    this.values.set('authenticator_data', response.authenticatorData as string);
    this.values.set('signature', response.signature as string);
    this.values.set('user_handle', response.userHandle as string);
  }
}
