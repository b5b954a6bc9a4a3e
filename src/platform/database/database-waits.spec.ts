import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { DatabaseWaits, withOwnTime } from './database-waits';

type Hook = (request: object, reply: { raw: EventEmitter }, done: () => void) => void;

/** Starts requests, and waits for the database that last as long as the test wants. */
class Requests {
  readonly waits = new DatabaseWaits();
  private readonly hooks = new Map<string, Hook>();

  constructor() {
    const fastify = {
      addHook: (name: string, hook: Hook) => this.hooks.set(name, hook),
    };
    this.waits.watch(fastify as unknown as FastifyInstance);
  }

  /** Starts a request. @returns functions that end it and that begin a wait for the database */
  start() {
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
  let requests: Requests;
  beforeEach(() => {
    jest.useFakeTimers();
    requests = new Requests();
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
  const outsideRequest = (giveUp: () => void) => requests.waits.begin(2400, giveUp);

  it('a wait of the command line or a worker has its own limit, however many slow waits came before', () => {
    for (let n = 0; n < 5; n++) {
      expect(wait(outsideRequest, 2000)).toBeUndefined();
      expect(wait(outsideRequest, 10_000)).toBe(2400);
    }
  });

  it('the last wait of a request ends within 4.5 s of its start, however many statements it has', () => {
    wait(outsideRequest, 1000);
    const { begin } = requests.start();
    expect(wait(begin, 2000)).toBeUndefined();
    expect(wait(begin, 1500)).toBeUndefined();
    expect(wait(begin, 10_000)).toBe(1000);
    // A wait of less than 250 ms is never refused.
    for (let n = 0; n < 10; n++) expect(wait(begin, 200)).toBeUndefined();
    expect(wait(begin, 10_000)).toBe(250);
  });

  it.each([
    ['while the database is slow', () => wait(outsideRequest, 1000)],
    ['before the database becomes slow', () => undefined],
  ])('a request that comes %s and waits 3 s for a hash thread is answered within 5 s as well', (_what, before) => {
    before();
    const { begin } = requests.start();
    jest.advanceTimersByTime(3000);
    expect(wait(begin, 1000)).toBeUndefined();
    expect(wait(begin, 10_000)).toBe(500);
  });

  it('requests that came before the database became slow end within 4.5 s of the start of the oldest one', () => {
    const older = requests.start();
    jest.advanceTimersByTime(2000);
    const younger = requests.start();
    expect(wait(younger.begin, 1000)).toBeUndefined();
    expect(wait(younger.begin, 10_000)).toBe(1500);
    older.end();
    expect(wait(younger.begin, 10_000)).toBe(2000);
    younger.end();
    // No request from before the slow waits is left, so this wait does not belong to a request.
    expect(wait(outsideRequest, 10_000)).toBe(2400);
  });

  it('a client that does not read its answer shortens no wait of others', () => {
    requests.start();
    jest.advanceTimersByTime(60_000);
    const { begin } = requests.start();
    expect(wait(begin, 2000)).toBeUndefined();
    expect(wait(outsideRequest, 1000)).toBeUndefined();
  });

  it.each([
    ['came while the database was slow', () => wait(outsideRequest, 1000)],
    ['came before the database became slow', () => undefined],
  ])('each part of a stream that %s has the time of a whole request', async (_what, before) => {
    before();
    const { begin } = requests.start();
    expect(wait(begin, 2000)).toBeUndefined();
    for (let part = 0; part < 5; part++) {
      const partly = () => Promise.resolve(wait((giveUp) => requests.waits.begin(2400, giveUp), 2000));
      expect(await withOwnTime(partly)).toBeUndefined();
    }
  });

  it('waits are not counted after the database has been fast for a while', () => {
    wait(outsideRequest, 1000);
    jest.advanceTimersByTime(6000);
    const { begin } = requests.start();
    expect(wait(begin, 2000)).toBeUndefined();
  });
});
