import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise';
import type { SeededNumbers } from '../seeded-numbers';
import { eventually } from '../servers/eventually';
import { MariaDbDatabases } from '../servers/mariadb-databases';
import { ServiceProcess } from '../servers/service-process';
import { KillProxy, type KillPoint } from './kill-proxy';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly bearer?: string;
  readonly body?: object;
}

export interface Reply {
  readonly status: number;
  readonly body: any;
  /** `success`, or the error code. */
  readonly code: string;
}

interface Member {
  readonly service: ServiceProcess;
  readonly proxy: KillProxy;
  dead: boolean;
}

/** Mails and events that a process may have been sending when one was killed. They may be sent once more. */
export interface InFlight {
  readonly mails: Set<string>;
  readonly events: Set<string>;
}

/** Two processes of the built program on one MariaDB. One of them can be killed while the other one goes on. */
export class CrashPair {
  readonly inFlight: InFlight = { mails: new Set(), events: new Set() };
  readonly counts = { requests: 0, unanswered: 0, overloaded: 0, kills: 0 };
  private readonly members: Member[] = [];

  private constructor(
    readonly databaseUrl: string,
    private readonly sql: Pool,
    private readonly env: Record<string, string>,
  ) {}

  static async start(env: Record<string, string>): Promise<CrashPair> {
    const databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    const sql = createPool({ uri: databaseUrl, timezone: 'Z', connectionLimit: 4 });
    const pair = new CrashPair(databaseUrl, sql, env);
    await Promise.all([pair.launch(), pair.launch()]);
    return pair;
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.members.map(async ({ service, proxy }) => {
        await service.kill();
        await proxy.stop();
      }),
    );
    await this.sql.end();
    await MariaDbDatabases.shared().drop(this.databaseUrl);
  }

  async rows<Row = Record<string, any>>(statement: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<RowDataPacket[]>(statement, values))[0] as Row[];
  }

  /** Runs statements in one transaction. */
  async together(statements: readonly (readonly [statement: string, values: unknown[]])[]): Promise<void> {
    const connection = await this.sql.getConnection();
    try {
      await connection.beginTransaction();
      for (const [statement, values] of statements) await connection.query(statement, values);
      await connection.commit();
    } finally {
      connection.release();
    }
  }

  /** Starts another process, which gets requests as soon as it is ready. */
  async launch(): Promise<void> {
    const proxy = await new KillProxy().start(Number(new URL(this.databaseUrl).port));
    const url = Object.assign(new URL(this.databaseUrl), { port: `${proxy.port}` }).toString();
    const service = await ServiceProcess.start({ env: { ...this.env, DATABASE_URL: url } });
    this.members.push({ service, proxy, dead: false });
  }

  /**
   * Sends a request to one of the processes, and repeats nothing.
   * @returns undefined when there was no answer, or 503. Then nothing of it happens any more, but it may have happened
   */
  async ask(request: Request, random: SeededNumbers): Promise<Reply | undefined> {
    const member = await eventually(() => this.members.length > 0 && random.pick(this.members), {
      what: 'a process is running',
      timeout: 300_000,
    });
    this.counts.requests += 1;
    const reply = await send(`${member.service.url}${request.path}`, request);
    if (reply === undefined) {
      this.counts.unanswered += 1;
      // Only a process that was killed leaves a request without an answer.
      await eventually(() => member.dead && member.proxy.drained, {
        what: `${request.method} ${request.path} has no answer: its process was killed`,
        timeout: 120_000,
      });
      return undefined;
    }
    if (reply.status === 503) {
      this.counts.overloaded += 1;
      await pause(500);
      return undefined;
    }
    if (reply.status >= 500) throw new Error(`${request.path} answered ${JSON.stringify(reply.body)}`);
    return reply;
  }

  /** Kills one process at a random moment of its work, and waits until the database has closed its connections. */
  async killOne(random: SeededNumbers): Promise<string> {
    const member = random.pick(this.members);
    const point = await this.killed(member, random);
    await this.end(member);
    return point;
  }

  async killAll(random: SeededNumbers): Promise<void> {
    const members = [...this.members];
    await Promise.all(members.map((member) => this.killed(member, random)));
    for (const member of members) await this.end(member);
  }

  private async killed(member: Member, random: SeededNumbers): Promise<string> {
    const kill = () => member.service.signal('SIGKILL');
    const delivered = random.next(3) > 0;
    const points: readonly (KillPoint | undefined)[] = [
      undefined,
      { direction: 'sent', packet: 1 + random.next(250), delivered },
      { direction: 'answered', packet: 1 + random.next(250), delivered },
      // The moments at which a change is made and nobody knows it, or nearly made.
      { direction: 'sent', packet: 1 + random.next(15), delivered, containing: 'COMMIT' },
    ];
    const point = random.pick(points);
    if (point === undefined) {
      const ms = random.next(150);
      await pause(ms);
      kill();
      return `after ${ms} ms`;
    }
    member.proxy.arm(point, kill);
    // Without traffic, because a story has failed, the place is never reached.
    const patience = setTimeout(kill, 60_000);
    await member.service.exited;
    clearTimeout(patience);
    return JSON.stringify(point);
  }

  private async end(member: Member): Promise<void> {
    await member.service.kill();
    this.counts.kills += 1;
    const at = this.members.indexOf(member);
    if (at >= 0) this.members.splice(at, 1);
    await eventually(() => member.proxy.drained, { what: 'the connections of the killed process are closed' });
    await this.noteInFlight();
    await member.proxy.stop();
    member.dead = true;
  }

  /** What is claimed now may be with the killed process. Its leases last half a minute and longer. */
  private async noteInFlight(): Promise<void> {
    const mails = await this.rows<{ id: string }>(
      'SELECT id FROM mail_outbox WHERE status = 0 AND claimed_by IS NOT NULL',
    );
    mails.forEach(({ id }) => this.inFlight.mails.add(id));
    const events = await this.rows<{ event_id: string }>(
      `SELECT event_id FROM event_outbox WHERE id IN
         (SELECT MIN(o.id) FROM event_streams s JOIN event_outbox o ON o.stream = s.stream AND o.status = 0
          WHERE s.claimed_by IS NOT NULL GROUP BY s.stream)`,
    );
    events.forEach(({ event_id }) => this.inFlight.events.add(event_id));
  }
}

/** Each request has its own connection, so that no client repeats it on another one. */
function send(url: string, { method, bearer, body }: Request): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const request = httpRequest(url, {
      agent: false,
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
    });
    request.once('error', () => resolve(undefined));
    request.once('response', (response) => {
      text(response).then(
        (raw) => {
          const answered = raw.startsWith('{') ? JSON.parse(raw) : undefined;
          const status = response.statusCode ?? 0;
          resolve({ status, body: answered, code: status === 200 ? 'success' : String(answered?.error_code) });
        },
        () => resolve(undefined),
      );
    });
    request.end(body && JSON.stringify(body));
  });
}
