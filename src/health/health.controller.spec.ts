import type { FastifyReply } from 'fastify';
import { FakeClock } from '../../test/support/fakes';
import type { DatabaseClock } from '../platform/database/database-clock';
import type { DatabaseConnection } from '../platform/database/database-connection';
import type { DiskCheck } from './disk-check';
import { HealthController } from './health.controller';
import { Lifecycle } from './lifecycle';

type State = 'ok' | 'unreachable' | 'migrations pending';

/** A HealthController with a database whose state and response time the test controls. */
function readiness() {
  const clock = new FakeClock();
  const lifecycle = new Lifecycle();
  const database = { state: 'ok' as State, probes: 0, held: Promise.resolve(), clock: 'ok', full: false };
  const probe = async () => {
    database.probes += 1;
    await database.held;
    return database.state;
  };
  const controller = new HealthController(
    { probe } as unknown as DatabaseConnection,
    { look: () => Promise.resolve(database.clock) } as unknown as DatabaseClock,
    { isFull: () => Promise.resolve(database.full) } as unknown as DiskCheck,
    lifecycle,
    clock,
  );
  const ask = async () => {
    const answer = { code: 200 };
    const reply = { status: (code: number) => (answer.code = code) } as unknown as FastifyReply;
    const body = await controller.ready(reply);
    return { code: answer.code, ...body };
  };
  return { ask, clock, database, lifecycle };
}

const green = { code: 200, status: 'ok', database: 'ok' };

describe('GET /health/ready', () => {
  it('queries the database once for any number of parallel requests, and not again within a second', async () => {
    const { ask, clock, database } = readiness();
    const answers = await Promise.all(Array.from({ length: 100 }, ask));
    for (let n = 0; n < 100; n++) answers.push(await ask());
    clock.advanceSeconds(0.999);
    answers.push(await ask());
    expect(answers).toEqual(answers.map(() => green));
    expect(database.probes).toBe(1);
  });

  it('queries the database again after a second, and after the clock was set back', async () => {
    const { ask, clock, database } = readiness();
    await ask();
    database.state = 'unreachable';
    clock.advanceSeconds(1);
    expect(await ask()).toEqual({ code: 503, status: 'unavailable', database: 'unreachable' });
    database.state = 'ok';
    expect(await ask()).toEqual(green);
    database.state = 'migrations pending';
    clock.advanceSeconds(-60);
    expect(await ask()).toEqual({ code: 503, status: 'unavailable', database: 'migrations pending' });
    expect(database.probes).toBe(4);
  });

  it('answers 503 while the clock is far off, and 200 while it is only off', async () => {
    const { ask, clock, database } = readiness();
    database.clock = 'off';
    expect(await ask()).toEqual(green);
    database.clock = 'far off';
    clock.advanceSeconds(1);
    expect(await ask()).toEqual({ code: 503, status: 'unavailable', database: 'ok', clock: 'far off' });
    database.clock = 'ok';
    expect(await ask()).toEqual(green);
  });

  it('answers 503 while the disk of the database is full', async () => {
    const { ask, database } = readiness();
    database.full = true;
    expect(await ask()).toEqual({ code: 503, status: 'unavailable', database: 'disk full' });
    database.full = false;
    expect(await ask()).toEqual(green);
  });

  it('counts the second from the start of a probe, so the result of a slow probe is not used again', async () => {
    const { ask, clock, database } = readiness();
    let release = () => {};
    database.held = new Promise((resolve) => (release = resolve));
    const slow = [ask(), ask()];
    clock.advanceSeconds(4);
    release();
    expect(await Promise.all(slow)).toEqual([green, green]);
    await ask();
    expect(database.probes).toBe(2);
  });

  it('answers 503 at once after SIGTERM, whatever the last probe found, also to waiting requests', async () => {
    const { ask, clock, database, lifecycle } = readiness();
    await ask();
    clock.advanceSeconds(1);
    let release = () => {};
    database.held = new Promise((resolve) => (release = resolve));
    const waiting = ask();
    lifecycle.startDraining();
    release();
    const red = { code: 503, status: 'draining', database: 'ok' };
    expect(await waiting).toEqual(red);
    expect(await ask()).toEqual(red);
  });
});
