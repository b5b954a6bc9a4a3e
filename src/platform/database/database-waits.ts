import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { requestMs } from './time-limits';

/** A wait below this many milliseconds is never refused. */
const freeMs = 250;
/** The database counts as fast again this long after the last slow wait. */
const calmMs = 5000;
/** A request that is older than this is a long one by design, or its client does not read. It has no time limit. */
const longMs = 2 * requestMs;

interface Started {
  readonly at: number;
}

/** One storage for the process, because the time belongs to the request, whichever database the request waits for. */
const starts = new AsyncLocalStorage<Started>();

/**
 * Limits the time at which the last wait of one request for the database ends (ADR 0018). Each wait has its own limit,
 * but a login has seven statements, and waits for a hash thread between them. The start of a request is in an
 * AsyncLocalStorage, which costs a tenth of a short request on Node 20. It is therefore used only while the database is
 * slow.
 */
@Injectable()
export class DatabaseWaits {
  private slowSince = Number.NEGATIVE_INFINITY;
  private slowLast = Number.NEGATIVE_INFINITY;
  /** The requests in flight, the oldest first. */
  private readonly inFlight = new Set<Started>();

  /** The hook is `preValidation`: Fastify reads the body in another asynchronous context than that of earlier hooks. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('preValidation', (_request, reply, done) => {
      const started = { at: performance.now() };
      this.inFlight.add(started);
      // Not `onResponse`, because that hook does not run if the client closes the connection before the answer.
      reply.raw.once('close', () => this.inFlight.delete(started));
      if (started.at - this.slowLast < calmMs) starts.run(started, done);
      else {
        starts.disable();
        done();
      }
    });
  }

  /**
   * @param giveUp is called when the wait has taken `limitMs`, or earlier when the request has no time left
   * @returns the function that ends the wait. The caller must call it in any case.
   */
  begin(limitMs: number, giveUp: () => void): () => void {
    const started = starts.getStore();
    let timer = setTimeout(() => {
      const left = Math.min(limitMs - freeMs, this.leftOf(started));
      if (left <= 0) giveUp();
      else timer = setTimeout(giveUp, left);
    }, freeMs);
    return () => clearTimeout(timer);
  }

  /** @throws an error with the code ETIMEDOUT, which is a store failure, if `work` takes longer */
  within<T>(limitMs: number, work: Promise<T>, what: string): Promise<T> {
    // Not Promise.race: the cost of its promises, twice for each statement, was visible in the profile.
    return new Promise((resolve, reject) => {
      const end = this.begin(limitMs, () => {
        end();
        reject(Object.assign(new Error(what), { code: 'ETIMEDOUT' }));
      });
      work.then(
        (result) => {
          end();
          resolve(result);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }

  /** Called once for each slow wait. @param started of the request; undefined if it is not known */
  private leftOf(started: Started | undefined): number {
    const now = performance.now();
    if (now - this.slowLast >= calmMs) this.slowSince = now;
    this.slowLast = now;
    const from = started ?? this.oldestUnknown(now);
    return from === undefined || now - from.at >= longMs ? Number.POSITIVE_INFINITY : from.at + requestMs - now;
  }

  /**
   * The caller is the command line, a worker, or a request that came before the database became slow. Which of these
   * requests it is, is not known, so the oldest one decides.
   */
  private oldestUnknown(now: number): Started | undefined {
    for (const started of this.inFlight) {
      if (started.at > this.slowSince) return undefined;
      if (now - started.at < longMs) return started;
    }
    return undefined;
  }
}

/**
 * Runs a part of an answer with the waiting time of a whole request. A stream of all rows lasts as long as its client
 * reads, so the time of its earlier parts must not end it.
 */
export function withOwnTime<T>(part: () => Promise<T>): Promise<T> {
  return starts.run({ at: performance.now() }, part);
}
