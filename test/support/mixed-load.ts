import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet, Reply } from './fleet';
import type { Mailboxes } from './mail/mailboxes';
import { addressOf } from './replicas';
import { eventually } from './servers/eventually';
import { password } from './settings';

interface Session {
  access: string;
  refresh: string;
}

export interface Failure {
  readonly what: string;
  readonly reply: Reply;
  /** `performance.now()` of the answer. */
  readonly at: number;
}

/** The load stops after this many failures, because a test that fails may end without a call of `stop`. */
const enoughFailures = 100;

/** Milliseconds between two mails to the same user: longer than the cooldown of the fleet, which is one second. */
const betweenMailsMs = 1100;

/**
 * The load of several users. Each one repeats: log in, read the session, refresh, mistype the password once, log out.
 * With mailboxes the login uses the second factor, and every second logout is replaced by a password reset.
 */
export class MixedLoad {
  readonly failures: Failure[] = [];
  /** Tokens that a successful logout or password change has revoked. */
  readonly revoked: string[] = [];
  readonly mistyped = new Map<string, number>();
  readonly counts = { requests: 0, codes: 0, resets: 0 };
  private readonly passwords = new Map<string, string>();
  private running = true;
  private readonly people: Promise<void>[];

  constructor(
    private readonly fleet: Fleet,
    names: readonly string[],
    private readonly mailboxes?: Mailboxes,
  ) {
    this.people = names.map((name) => this.work(name));
  }

  /** Waits until this many more requests were sent, or until the load has stopped because of its failures. */
  async more(requests: number): Promise<void> {
    const wanted = this.counts.requests + requests;
    await eventually(() => this.counts.requests >= wanted || !this.running, {
      what: `${requests} more requests under load`,
      timeout: 300_000,
    });
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.people);
  }

  private async work(name: string): Promise<void> {
    for (let turn = 0; this.running; turn++) {
      const session = await this.logIn(name);
      const soonest = pause(this.mailboxes === undefined ? 0 : betweenMailsMs);
      if (session === undefined) continue;
      for (let round = 0; round < 3 && this.running; round++) await this.lookAround(session);
      const wrong = await this.expecting(401, 'wrong password', this.fleet.login(name, 'wrong'));
      if (wrong?.body.error_code === 'LOGIN_401001') this.mistyped.set(name, (this.mistyped.get(name) ?? 0) + 1);
      const ended =
        this.mailboxes !== undefined && turn % 2 === 1
          ? await this.resetPassword(name, this.mailboxes)
          : await this.expecting(200, 'logout', this.fleet.send('/logout', { bearer: session.access, body: {} }));
      if (ended !== undefined) this.revoked.push(session.access, session.refresh);
      await soonest;
    }
  }

  private async lookAround(session: Session): Promise<void> {
    await this.expecting(200, 'me', this.fleet.send('/user/me', { bearer: session.access }));
    const body = { refresh_token: session.refresh };
    const refreshed = await this.expecting(200, 'refresh', this.fleet.send('/refresh', { body }));
    if (refreshed !== undefined) session.access = refreshed.body.data.access_token as string;
    await pause(15);
  }

  private async logIn(name: string): Promise<Session | undefined> {
    const login = await this.expecting(200, 'login', this.fleet.login(name, this.passwords.get(name)));
    const data = login?.body.data;
    const reply = data?.mfa_required === true ? await this.enterCode(name, data) : login;
    if (reply === undefined) return undefined;
    return { access: reply.body.data.access_token as string, refresh: reply.body.data.refresh_token as string };
  }

  private async enterCode(name: string, { mfa_token, user_info }: any): Promise<Reply | undefined> {
    const code = /\b\d{6}\b/.exec(await this.mailboxes!.next(addressOf(name)))?.[0];
    const body = { uid: user_info.uid as string, type: 'email', code, mfa_token: mfa_token as string };
    const reply = await this.expecting(200, 'code', this.fleet.send('/otp-verify', { body }));
    if (reply !== undefined) this.counts.codes += 1;
    return reply;
  }

  /** Requests a link, opens it, changes the password, and waits for the second mail, which reports the change. */
  private async resetPassword(name: string, mailboxes: Mailboxes): Promise<Reply | undefined> {
    const forgot = this.fleet.send('/forget-password', { body: { email: addressOf(name) } });
    if ((await this.expecting(200, 'forgot', forgot)) === undefined) return undefined;
    const token = /[?&]uid=([\w-]+)/.exec(await mailboxes.next(addressOf(name)))?.[1];
    await this.expecting(200, 'link', this.fleet.send(`/user/change-pwd-req/${token}`));
    const chosen = `${password}-${this.counts.requests}`;
    const body = { req_uid: token, password: chosen, confirm_password: chosen };
    const changed = await this.expecting(200, 'change', this.fleet.send('/user/change-pwd-by-req', { body }));
    if (changed === undefined) return undefined;
    this.passwords.set(name, chosen);
    this.counts.resets += 1;
    await mailboxes.next(addressOf(name));
    return changed;
  }

  private async expecting(status: number, what: string, request: Promise<Reply>): Promise<Reply | undefined> {
    this.counts.requests += 1;
    const reply = await request;
    if (reply.status === status) return reply;
    this.failures.push({ what, reply, at: performance.now() });
    if (this.failures.length >= enoughFailures) this.running = false;
    return undefined;
  }
}
