import type { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';

/**
 * Returns a function that runs a passport strategy for one request. It resolves to what `validate` of the strategy
 * returned, or to false when the token is missing or its signature, issuer or audience is wrong. It rejects with what
 * `validate` threw.
 *
 * The middleware of passport does the same with an object and several closures of its own for each request. V8 then
 * keeps all objects of a request until the next full collection (ADR 0014). Here one class is made for all requests.
 */
export function checkBy<Result>(strategy: Strategy): (request: FastifyRequest) => Promise<Result | false> {
  class Check {
    constructor(
      readonly success: (result: Result) => void,
      readonly error: (reason: unknown) => void,
    ) {}

    fail(): void {
      (this.success as (result: false) => void)(false);
    }
  }
  // A strategy reports its result by methods that whoever runs it puts on an object derived from the strategy.
  Object.setPrototypeOf(Check.prototype, strategy);
  return (request) =>
    new Promise((resolve, reject) => {
      const check = new Check(resolve, reject) as Check & Strategy;
      check.authenticate(request as never);
    });
}
