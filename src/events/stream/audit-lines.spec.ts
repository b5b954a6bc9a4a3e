import { Logger } from '@nestjs/common';
import type { EventSettings } from '../../audit/event-settings';
import type { AppConfig } from '../../settings/app-config';
import { auditEvent, loginEvent } from '../outbox/event';
import { AuditLines, type WriteText } from './audit-lines';

type Done = Parameters<WriteText>[1];

/** A standard output that takes a text only when the test says so. */
class Output {
  readonly texts: string[] = [];
  private done: Done | undefined;
  parallel = 0;

  readonly write: WriteText = (text, done) => {
    this.parallel += this.done === undefined ? 0 : 1;
    this.texts.push(text.toString());
    this.done = done;
  };

  take(error: NodeJS.ErrnoException | null = null, written = Buffer.byteLength(this.texts.at(-1)!)): void {
    const { done } = this;
    this.done = undefined;
    done!(error, written);
  }

  takeAll(): void {
    while (this.done !== undefined) this.take();
  }
}

const events = { stream: true, webhook: undefined };
const config = { events } as AppConfig;
const event = (n: number) => ({ type: 'user.unlocked', timestamp: '2026-03-02T10:00:00.000Z', data: { n } });
const numbers = (texts: string[]) => texts.map((text) => (JSON.parse(text) as { data: { n: number } }).data.n);

function started(): { lines: AuditLines; output: Output } {
  const output = new Output();
  const lines = new AuditLines(config.events, output.write);
  lines.start();
  return { lines, output };
}

describe('AuditLines', () => {
  let errors: jest.SpyInstance;
  beforeEach(() => {
    errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => errors.mockRestore());

  it('writes each event as one JSON line, one after the other, in the order of the events', () => {
    const { lines, output } = started();
    for (let n = 0; n < 5; n++) lines.add(event(n));
    output.takeAll();
    expect(numbers(output.texts)).toEqual([0, 1, 2, 3, 4]);
    expect(output.parallel).toBe(0);
    expect(output.texts[0]).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(output.texts[0]!)).toEqual({
      level: 30,
      time: '2026-03-02T10:00:00.000Z',
      log: 'audit',
      ...event(0),
    });
  });

  it('a user name and a browser with line breaks and escape sequences forge no line (T330)', () => {
    const { lines, output } = started();
    const forged = '\n{"level":30,"log":"audit","type":"user.unlocked"}\r\n\u001b[31m\u2028\u0000';
    const common = { ip: '192.0.2.1', requestId: 'r', createdAt: new Date(0), userId: null };
    const outcome = { provider: 'password', mfa: null, outcome: 'LOGIN_404001' };
    lines.add(loginEvent({ ...common, ...outcome, loginName: `nobody${forged}`, userAgent: `agent${forged}` }, 1));
    output.takeAll();
    expect(output.texts).toHaveLength(1);
    expect(output.texts[0]).toMatch(/^[^\u0000-\u001f\u007f]+\n$/);
    expect(JSON.parse(output.texts[0]!)).toMatchObject({ log: 'audit', data: { login_name: `nobody${forged}` } });
  });

  it('writes nothing before the server starts it, and nothing without AUDIT_STREAM', () => {
    const output = new Output();
    new AuditLines(config.events, output.write).add(event(1));
    const off = new AuditLines({ ...events, stream: false } as EventSettings, output.write);
    off.start();
    off.add(event(1));
    expect(output.texts).toEqual([]);
  });

  it('while nobody reads, keeps 10,000 lines, drops and counts the others, and says so when somebody reads again (T329)', () => {
    const { lines, output } = started();
    for (let n = 0; n < 10_101; n++) lines.add(event(n));
    expect([lines.dropped, output.texts.length, errors.mock.calls.length]).toEqual([100, 1, 0]);
    output.takeAll();
    expect(numbers(output.texts)).toEqual(Array.from({ length: 10_001 }, (_, n) => n));
    expect(errors.mock.calls).toEqual([[{ dropped: 100 }, expect.stringContaining('audit lines were dropped')]]);
    lines.add(event(10_101));
    output.takeAll();
    expect([lines.dropped, errors.mock.calls.length]).toEqual([100, 1]);
  });

  it('goes on with the rest of a line that was written in part, and tries again when the pipe is full', async () => {
    const { lines, output } = started();
    lines.add(event(1));
    const whole = output.texts[0]!;
    output.take(null, 10);
    expect(output.texts[1]).toBe(whole.slice(10));
    output.take(Object.assign(new Error('busy'), { code: 'EAGAIN' }), 0);
    while (output.texts.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(output.texts[2]).toBe(whole.slice(10));
  });

  it('drops and counts the lines when standard output is closed, and never throws', () => {
    const { lines, output } = started();
    for (let n = 0; n < 3; n++) lines.add(event(n));
    output.take(Object.assign(new Error('closed'), { code: 'EPIPE' }), 0);
    expect(lines.dropped).toBe(3);
    lines.add(event(4));
    output.takeAll();
    expect(numbers(output.texts).at(-1)).toBe(4);
  });

  it('gives each line to the export of log records as well, also while nobody reads standard output', () => {
    const [output, copies] = [new Output(), [] as string[]];
    const lines = new AuditLines(config.events, output.write, { add: (line: string) => copies.push(line) } as never);
    lines.add(event(0));
    expect(copies).toEqual([]);
    lines.start();
    for (let n = 0; n < 10_101; n++) lines.add(event(n));
    expect([lines.dropped, copies.length]).toEqual([100, 10_101]);
    output.takeAll();
    expect(copies.slice(0, output.texts.length)).toEqual(output.texts);
  });

  it('the stop waits for the lines that are not written yet', async () => {
    const { lines, output } = started();
    lines.add(event(1));
    let stopped = false;
    const stopping = lines.onApplicationShutdown().then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    output.takeAll();
    await stopping;
  });

  it('the stop does not wait when every line is written', async () => {
    const { lines, output } = started();
    lines.add(event(1));
    output.takeAll();
    jest.useFakeTimers();
    try {
      const stopping = lines.onApplicationShutdown();
      expect(jest.getTimerCount()).toBe(0);
      await stopping;
    } finally {
      jest.useRealTimers();
    }
  });

  /** POSIX: a write of at most PIPE_BUF bytes (4096 on Linux) to a pipe is never mixed with another write. */
  it('the longest line fits into one atomic write', () => {
    const { lines, output } = started();
    const userAgent = '"ÿ'.repeat(256);
    const common = { ip: 'f'.repeat(45), userAgent, requestId: 'r'.repeat(64), createdAt: new Date() };
    const worst = { ...common, userId: 'u'.repeat(36), loginName: '\u0001'.repeat(255) };
    const long = { provider: 'p'.repeat(16), mfa: 'm'.repeat(16), outcome: 'o'.repeat(32) };
    lines.add(loginEvent({ ...worst, ...long }, Number.MAX_SAFE_INTEGER));
    const detail = { reason: 'x'.repeat(255), id: 'x'.repeat(36) };
    const actorId = '"'.repeat(255);
    lines.add(
      auditEvent({ ...common, userId: worst.userId, event: 'USER_DIRECTORY_SESSIONS_ENDED', actorId, detail }, 1),
    );
    output.takeAll();
    for (const line of output.texts) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(4096);
  });
});
