import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { DatabaseWaits } from './database-waits';

type Hook = (request: object, reply: { raw: EventEmitter }, done: () => void) => void;

/** Requests, and waits that end when the test says so. */
class World {
  readonly waits = new DatabaseWaits();
  private readonly hooks = new Map<string, Hook>();

  constructor() {
    const fastify = {
      addHook: (name: string, hook: Hook) => this.hooks.set(name, hook),
    };
    this.waits.watch(fastify as unknown as FastifyInstance);
  }

  /** @returns functions that end the request and that begin a wait for the database */
  request() {
    const raw = new EventEmitter();
    let begin!: (giveUp: () => void) => () => void;
    this.hooks.get('preValidation')?.({}, { raw }, () => {
      const run = bound();
      begin = (giveUp) => run(() => this.waits.begin(2400, giveUp));
    });
    // A response closes when it has been sent and when its client has closed the connection.
    const end = () => raw.emit('close');
    return { begin, end };
  }
}

/** Runs a function in the asynchronous context of this call. */
function bound(): <T>(work: () => T) => T {
  return AsyncResource.bind((work: () => unknown) => work()) as <T>(work: () => T) => T;
}

describe('waiting for the database', () => {
  let world: World;
  beforeEach(() => {
    jest.useFakeTimers();
    world = new World();
  });
  afterEach(() => jest.useRealTimers());

  /** Waits until the answer comes or the wait is given up. @returns the milliseconds if it was given up */
  function wait(begin: (giveUp: () => void) => () => void, answerAfterMs: number): number | undefined {
    const begun = performance.now();
    let givenUpAfter: number | undefined;
    const end = begin(() => (givenUpAfter = performance.now() - begun));
    for (let ms = 0; ms < answerAfterMs && givenUpAfter === undefined; ms += 50) jest.advanceTimersByTime(50);
    end();
    return givenUpAfter;
  }
  const alone = (giveUp: () => void) => world.waits.begin(2400, giveUp);

  it('a wait of the command line or a worker has its own limit, however many slow waits came before', () => {
    for (let n = 0; n < 5; n++) {
      expect(wait(alone, 2000)).toBeUndefined();
      expect(wait(alone, 10_000)).toBe(2400);
    }
  });

  it('a request that comes while the database is slow waits for at most 4 s in total, not for seven times 2 s', () => {
    wait(alone, 1000);
    const { begin } = world.request();
    expect(wait(begin, 2000)).toBeUndefined();
    expect(wait(begin, 1500)).toBeUndefined();
    // 500 ms are left.
    expect(wait(begin, 10_000)).toBe(750);
    // A fast answer is never refused.
    for (let n = 0; n < 10; n++) expect(wait(begin, 200)).toBeUndefined();
    expect(wait(begin, 10_000)).toBe(250);
  });

  it('other work of a request does not count as waiting', () => {
    wait(alone, 1000);
    const { begin } = world.request();
    for (let n = 0; n < 3; n++) {
      jest.advanceTimersByTime(4000);
      expect(wait(begin, 1000)).toBeUndefined();
    }
  });

  it('a request that came before the database became slow waits for at most 4 s from that moment', () => {
    const { begin, end } = world.request();
    expect(wait(begin, 2000)).toBeUndefined();
    expect(wait(begin, 2000)).toBeUndefined();
    expect(wait(begin, 10_000)).toBeLessThanOrEqual(500);
    end();
    // No such request is left, so this wait does not belong to a request.
    expect(wait(alone, 10_000)).toBe(2400);
  });

  it('waits are not counted after the database has been fast for a while', () => {
    wait(alone, 1000);
    jest.advanceTimersByTime(6000);
    const { begin } = world.request();
    expect(wait(begin, 2000)).toBeUndefined();
  });
});
