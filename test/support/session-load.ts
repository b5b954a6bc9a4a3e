import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from './servers/eventually';
import { captchaToken, password } from './settings';

/** Sends one request. The status is 0 when no answer comes. */
export type Send = (
  path: string,
  request?: { bearer?: string; body?: object },
) => Promise<{ readonly status: number; readonly body: any }>;

/** Sends to one service. */
export const sendTo =
  (url: () => string): Send =>
  async (path, { bearer, body } = {}) => {
    try {
      const response = await fetch(`${url()}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: body && JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return { status: 0, body: undefined };
    }
  };

/** What the service has answered about one session. */
export interface AnsweredSession {
  /** Each access token that was answered: that of the login, and those of the refreshes. */
  readonly access: string[];
  readonly refresh: string;
  /** `unknown`: the logout was sent, and no answer came. */
  state: 'open' | 'ended' | 'unknown';
}

/** People who log in, refresh and, every second time, log out. No request is repeated. Remembers what was answered. */
export class SessionLoad {
  readonly counts = { requests: 0, failed: 0 };
  /** How many requests failed with each status. */
  readonly failures: Record<string, number> = {};
  private answered: AnsweredSession[] = [];
  private turns = 0;
  private running = true;
  private readonly workers: Promise<void>[];

  /** @param nameOf the login name of the nth session */
  constructor(
    private readonly send: Send,
    workers: number,
    private readonly nameOf: (n: number) => string,
  ) {
    this.workers = Array.from({ length: workers }, () => this.work());
  }

  get sessions(): readonly AnsweredSession[] {
    return this.answered;
  }

  /** Forgets the sessions so far. */
  forget(): void {
    this.answered = [];
  }

  /** Waits for so many more sessions whose login was answered. */
  async more(count: number): Promise<void> {
    const wanted = this.answered.length + count;
    await eventually(() => this.answered.length >= wanted, { what: `${count} more sessions`, timeout: 300_000 });
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.workers);
  }

  private async work(): Promise<void> {
    while (this.running) {
      const n = this.turns++;
      await pause(50);
      const body = { username: this.nameOf(n), password, captcha_token: captchaToken };
      const login = await this.succeeds('/login', { body });
      if (login === undefined) continue;
      const session: AnsweredSession = { access: [login.access_token!], refresh: login.refresh_token!, state: 'open' };
      this.answered.push(session);
      const refreshed = await this.succeeds('/refresh', { body: { refresh_token: session.refresh } });
      if (refreshed !== undefined) session.access.push(refreshed.access_token!);
      await this.succeeds('/user/me', { bearer: session.access.at(-1)! });
      if (n % 2 === 0) continue;
      session.state = 'unknown';
      const left = await this.succeeds('/logout', { bearer: session.access[0]!, body: {} });
      if (left !== undefined) session.state = 'ended';
    }
  }

  /** @returns the data of an answer with success */
  private async succeeds(path: string, request: Parameters<Send>[1]): Promise<Record<string, string> | undefined> {
    this.counts.requests++;
    const { status, body } = await this.send(path, request);
    if (status === 200) return (body.data ?? {}) as Record<string, string>;
    this.counts.failed++;
    const reason = status === 0 ? 'no answer' : `${status} ${body?.error_code ?? ''}`.trim();
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
    // Nobody tries again at once, and a port that refuses connections would answer thousands of requests.
    await pause(100);
    return undefined;
  }
}

/** What a service says about sessions that were answered. All numbers are 0 where nothing was lost. */
export async function judged(send: Send, sessions: readonly AnsweredSession[]) {
  const found = { lostAccess: 0, lostRefresh: 0, alive: 0 };
  const accepted = async (path: string, request: Parameters<Send>[1]) => {
    const { status } = await send(path, request);
    // Anything else is no judgement about the token.
    if (status !== 200 && status !== 401) throw new Error(`${path} answered ${status}`);
    return status === 200;
  };
  for (const { access, refresh, state } of sessions) {
    if (state === 'unknown') continue;
    for (const bearer of access) {
      const lives = await accepted('/user/me', { bearer });
      if (lives && state === 'ended') found.alive++;
      if (!lives && state === 'open') found.lostAccess++;
    }
    const lives = await accepted('/refresh', { body: { refresh_token: refresh } });
    if (lives && state === 'ended') found.alive++;
    if (!lives && state === 'open') found.lostRefresh++;
  }
  return found;
}
