import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

/** Milliseconds that each wait has for itself: it is neither counted nor refused. */
const freeMs = 250;
/** What one request may wait for connections and statements in all. With the rest of its work it is answered in 5 s. */
const requestMs = 4000;
/** So long after the last slow wait nothing is counted any more. */
const calmMs = 5000;

interface Budget {
  spentMs: number;
}

/** Of the process: the context belongs to the request, whichever database it waits for. */
const budgets = new AsyncLocalStorage<Budget>();

/**
 * Bounds what one request waits for the database. Each wait has a limit of its own, but a login has seven statements, and
 * seven waits below the limit would be an answer after 17 s. The budget travels with the request (AsyncLocalStorage), which
 * costs a tenth of a short request on Node 20; so it is only kept while the database is slow (ADR 0018).
 */
@Injectable()
export class DatabaseWaits {
  private epoch = 0;
  private slowSince = Number.NEGATIVE_INFINITY;
  private slowLast = Number.NEGATIVE_INFINITY;
  private inFlight = 0;
  /** Requests that came before the database became slow, and so have no budget. */
  private older = 0;

  /** After the body: Fastify reads it in another context than that of the hooks before. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('preValidation', (_request, reply, done) => {
      const epoch = this.epoch;
      this.inFlight++;
      // Not `onResponse`: that hook does not run when the client hangs up before the answer.
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
   * @param giveUp called when the wait took `limitMs`, or earlier when its request has no time left
   * @returns the function that ends the wait; it is called in any case
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

  /** @throws an error with the code ETIMEDOUT, a failure of the store, when `work` takes longer. */
  within<T>(limitMs: number, work: Promise<T>, what: string): Promise<T> {
    // By hand: twice for each statement, Promise.race and its promises were seen in the profile.
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

  /** Called once for each slow wait. @param spentMs what its request has spent before; undefined without a budget */
  private leftOf(spentMs: number | undefined): number {
    const now = performance.now();
    if (now - this.slowLast >= calmMs) {
      this.slowSince = now;
      this.epoch++;
      this.older = this.inFlight;
    }
    this.slowLast = now;
    if (spentMs !== undefined) return requestMs - spentMs;
    // Of the command line or a worker, or of a request that is at least as old as this slow time.
    return this.older > 0 ? requestMs - (now - this.slowSince) : Number.POSITIVE_INFINITY;
  }
}

/** Counts a wait for a statement that several requests share: its own wait is only counted for the first of them. */
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

/** Waits of one request that run side by side are counted once. */
function charge(budget: Budget, before: number, begun: number): void {
  budget.spentMs = Math.max(budget.spentMs, before + performance.now() - begun);
}
