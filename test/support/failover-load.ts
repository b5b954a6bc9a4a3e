import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { goodPassword } from './reset';
import { eventually } from './servers/eventually';
import type { ServiceProcess } from './servers/service-process';
import { captchaToken, password } from './settings';

export interface Outcome {
  readonly what: string;
  /** Number of the replica that was asked. */
  readonly replica: number;
  readonly status: number;
  readonly code: string | undefined;
  /** `performance.now()` of the request and of its answer. */
  readonly from: number;
  readonly to: number;
}

export interface Link {
  readonly uid: string;
  readonly token: string;
  /** The status of the answer, if the link was submitted. */
  status?: number;
}

/**
 * Users who log in and out, and users who set a password by a link, at several replicas, until `stop`. No request is
 * repeated. Remembers what was answered with success, because this must be true on every node afterwards.
 */
export class FailoverLoad {
  readonly outcomes: Outcome[] = [];
  /** The ids of both tokens of each login that succeeded. */
  readonly issued: string[] = [];
  /** Access tokens whose logout succeeded. */
  readonly ended: string[] = [];
  private running = true;
  private readonly workers: Promise<void>[];

  constructor(
    private readonly replicas: readonly ServiceProcess[],
    names: readonly string[],
    private readonly links: Link[],
  ) {
    const changers = replicas.map((_, replica) => this.change(replica));
    this.workers = [...names.map((name, n) => this.logInAndOut(name, n % replicas.length)), ...changers];
  }

  /** Waits for so many more successes of each replica, of requests that were sent from now on. */
  async succeeds(count = 1): Promise<void> {
    const from = performance.now();
    const enough = () =>
      this.replicas.every((_, replica) => {
        const good = this.outcomes.filter((one) => one.replica === replica && one.from >= from && one.status === 200);
        return good.length >= count;
      });
    await eventually(enough, { what: `${count} more successes of each replica`, interval: 5 });
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.workers);
  }

  private async logInAndOut(username: string, replica: number): Promise<void> {
    while (this.running) {
      const login = await this.send('login', replica, '/login', { username, password, captcha_token: captchaToken });
      if (login !== undefined) {
        const { access_token: access, refresh_token: refresh } = login;
        this.issued.push(...[access, refresh].map((token) => String(decodeJwt(token as string).jti)));
        const left = await this.send('logout', replica, '/logout', {}, access);
        if (left !== undefined) this.ended.push(access as string);
      }
    }
  }

  private async change(replica: number): Promise<void> {
    while (this.running && this.links.length > 0) {
      const link = this.links.find(({ status }) => status === undefined);
      if (link === undefined) return;
      link.status = 0;
      const chosen = goodPassword(1);
      const body = { req_uid: link.token, password: chosen, confirm_password: chosen };
      await this.send('change', replica, '/user/change-pwd-by-req', body);
      link.status = this.outcomes.findLast((one) => one.what === 'change' && one.replica === replica)?.status;
      await pause(30);
    }
  }

  /** @returns the data of a success */
  private async send(what: string, replica: number, path: string, body: object, bearer?: string) {
    const from = performance.now();
    const answer = await fetch(`${this.replicas[replica]?.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) },
      body: JSON.stringify(body),
    });
    const { error_code: code, data } = (await answer.json()) as { error_code?: string; data?: Record<string, string> };
    this.outcomes.push({ what, replica, status: answer.status, code, from, to: performance.now() });
    if (answer.status === 200) return data ?? {};
    // Without this, a replica whose connections are refused at once would answer thousands of requests.
    await pause(100);
    return undefined;
  }
}
