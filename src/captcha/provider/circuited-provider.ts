import { Logger } from '@nestjs/common';
import {
  BrokenCircuitError,
  circuitBreaker,
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { CaptchaProvider, Judgement } from './judgement';

const failuresToOpen = 5;
const halfOpenAfterMs = 10_000;

/** Circuit breaker: a provider that is down gets no requests except a probe every 10 s, so logins fail over at once. */
export class CircuitedProvider implements CaptchaProvider {
  private readonly logger = new Logger('captcha');
  private readonly circuit: CircuitBreakerPolicy;

  constructor(private readonly provider: CaptchaProvider) {
    const down = (result: unknown) => isOutage(result as Judgement);
    this.circuit = circuitBreaker(handleWhenResult(down), {
      halfOpenAfter: halfOpenAfterMs,
      breaker: new ConsecutiveBreaker(failuresToOpen),
    });
    this.circuit.onBreak(() =>
      this.logger.warn({ provider: this.name }, 'captcha provider is down and is tried again in 10 seconds'),
    );
    this.circuit.onReset(() => this.logger.log({ provider: this.name }, 'captcha provider answers again'));
  }

  get name(): string {
    return this.provider.name;
  }

  async judge(token: string, ip: string, timeoutMs: number): Promise<Judgement> {
    try {
      return await this.circuit.execute(() => this.provider.judge(token, ip, timeoutMs));
    } catch (error) {
      // A judgement without a reason is not logged. `onBreak` has logged the outage once, instead of at every login.
      if (error instanceof BrokenCircuitError) return { verdict: 'unavailable' };
      throw error;
    }
  }
}

/** A failure that a client can cause by its choice of token does not count: it could open the circuit for everybody. */
function isOutage({ verdict, blameless }: Judgement): boolean {
  return verdict === 'unavailable' && blameless !== true;
}
