import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { requestMs } from './time-limits';

/** A wait below this many milliseconds is neither counted nor refused. */
const freeMs = 250;
/** Counting stops this long after the last slow wait. */
const calmMs = 5000;

interface Budget {
  spentMs: number;
}

/** One storage for the process, because the budget belongs to the request, whichever database the request waits for. */
const budgets = new AsyncLocalStorage<Budget>();

/**
 * Limits the total time that one request waits for the database (ADR 0018). Each wait has its own limit, but a login
 * has seven statements, and seven waits just below the limit would take 17 s. The budget is in an AsyncLocalStorage,
 * which costs a tenth of a short request on Node 20. It is therefore used only while the database is slow.
 */
@Injectable()
export class DatabaseWaits {
  private epoch = 0;
  private slowSince = Number.NEGATIVE_INFINITY;
  private slowLast = Number.NEGATIVE_INFINITY;
  private inFlight = 0;
  /** Requests that came before the database became slow. They have no budget. */
  private older = 0;

  /** The hook is `preValidation`: Fastify reads the body in another asynchronous context than that of earlier hooks. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('preValidation', (_request, reply, done) => {
      const epoch = this.epoch;
      this.inFlight++;
      // Not `onResponse`, because that hook does not run if the client closes the connection before the answer.
      reply.raw.once('close', () => {
        this.inFlight--;
        if (epoch < this.epoch) this.older--;
      });
      if (performance.now() - this.slowLast < calmMs) budgets.run({ spentMs: 0 }, done);
      else {
        budgets.disable();
        done();
      }
    });
  }

  /**
   * @param giveUp is called when the wait has taken `limitMs`, or earlier when the request has no time left
   * @returns the function that ends the wait. The caller must call it in any case.
   */
  begin(limitMs: number, giveUp: () => void): () => void {
    const budget = budgets.getStore();
    const before = budget?.spentMs ?? 0;
    let slowFrom: number | undefined;
    let timer = setTimeout(() => {
      slowFrom = performance.now() - freeMs;
      const left = Math.min(limitMs - freeMs, this.leftOf(budget && before));
      if (left <= 0) giveUp();
      else timer = setTimeout(giveUp, left);
    }, freeMs);
    return () => {
      clearTimeout(timer);
      if (budget !== undefined && slowFrom !== undefined) charge(budget, before, slowFrom);
    };
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

  /** Called once for each slow wait. @param spentMs the earlier waits of the request; undefined without a budget */
  private leftOf(spentMs: number | undefined): number {
    const now = performance.now();
    if (now - this.slowLast >= calmMs) {
      this.slowSince = now;
      this.epoch++;
      this.older = this.inFlight;
    }
    this.slowLast = now;
    if (spentMs !== undefined) return requestMs - spentMs;
    // The caller is the command line, a worker, or a request that came before the database became slow.
    return this.older > 0 ? requestMs - (now - this.slowSince) : Number.POSITIVE_INFINITY;
  }
}

/**
 * Counts the wait of a request for a statement that several requests share. `begin` counts only the wait of the first
 * of these requests.
 */
export async function charged<T>(work: Promise<T>): Promise<T> {
  const budget = budgets.getStore();
  if (budget === undefined) return work;
  const [before, begun] = [budget.spentMs, performance.now()];
  try {
    return await work;
  } finally {
    if (performance.now() - begun > freeMs) charge(budget, before, begun);
  }
}

/**
 * Runs a part of an answer with the waiting time of a whole request. A stream of all rows lasts as long as its client
 * reads, so the waits of its earlier parts must not end it.
 */
export function withOwnTime<T>(part: () => Promise<T>): Promise<T> {
  return budgets.run({ spentMs: 0 }, part);
}

/** Parallel waits of one request are counted once. */
function charge(budget: Budget, before: number, begun: number): void {
  budget.spentMs = Math.max(budget.spentMs, before + performance.now() - begun);
}
