import { Injectable, Logger } from '@nestjs/common';
import {
  BrokenCircuitError,
  circuitBreaker,
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  handleWhenResult,
} from 'cockatiel';
import { Webhook as Signer } from 'standardwebhooks';
import { boundedRequest } from '../platform/http/bounded-request';
import { version } from '../platform/version';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { LegacySettings } from './legacy-settings';

export interface LegacyQuestion {
  readonly loginName: string;
  readonly email: string | null;
  readonly password: string;
  readonly requestId: string | null;
}

/** `away`: there is no usable answer, so nobody knows whether the password is right. */
export type LegacyVerdict = 'right' | 'wrong' | 'away';

type Answer = { readonly verdict: 'right' | 'wrong' } | { readonly failure: string };

const largestBody = 4096;
const failuresToOpen = 5;
const halfOpenAfterMs = 10_000;

/**
 * Asks the old system whether a password is right: one signed POST to `LEGACY_VERIFY_URL`, bounded in time and size,
 * without redirects. Every answer but a clear one is `away`. While the old system is down, one request every 10 s finds
 * out whether it answers again, and all others are `away` at once.
 */
@Injectable()
export class LegacySystem {
  private readonly logger = new Logger('legacy');
  private readonly counted: Record<LegacyVerdict, number> = { right: 0, wrong: 0, away: 0 };
  private readonly signer: Signer | undefined;
  private readonly circuit: CircuitBreakerPolicy;

  constructor(
    private readonly settings: LegacySettings,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.signer = settings.legacy === undefined ? undefined : new Signer(settings.legacy.secret);
    this.circuit = circuitBreaker(
      handleWhenResult((answer) => isOutage(answer as Answer)),
      { halfOpenAfter: halfOpenAfterMs, breaker: new ConsecutiveBreaker(failuresToOpen) },
    );
    this.circuit.onBreak(() => this.logger.warn('the old system is down and is asked again in 10 seconds'));
    this.circuit.onReset(() => this.logger.log('the old system answers again'));
  }

  /** Whether `LEGACY_VERIFY_URL` is set. */
  get isOn(): boolean {
    return this.signer !== undefined;
  }

  /** The longest wait for an answer. */
  get timeoutMs(): number {
    return this.settings.legacy?.timeoutMs ?? 0;
  }

  /** For the metrics: the questions of this process by their result. */
  get counts(): Readonly<Record<LegacyVerdict, number>> {
    return this.counted;
  }

  /** Never throws. */
  async judge(question: LegacyQuestion): Promise<LegacyVerdict> {
    const answer = await this.answerTo(question);
    const verdict = 'verdict' in answer ? answer.verdict : 'away';
    this.counted[verdict] += 1;
    // An open circuit is logged once, instead of at every login.
    if ('failure' in answer && answer.failure !== circuitOpen) {
      const { requestId } = question;
      this.logger.warn({ requestId, reason: answer.failure }, 'the old system gave no usable answer');
    }
    return verdict;
  }

  /** For `doctor`: asks past the circuit breaker and counts nothing. @returns the verdict, or why there is none */
  ask({ loginName, email, password, requestId }: LegacyQuestion): Promise<Answer> {
    const { legacy } = this.settings;
    if (legacy === undefined || this.signer === undefined) {
      return Promise.resolve({ failure: 'LEGACY_VERIFY_URL is not set' });
    }
    const [id, now] = [this.random.uuid(), this.clock.now()];
    const body = JSON.stringify({
      login_name: loginName,
      ...(email === null ? {} : { email }),
      ...{ password, request_id: requestId ?? id },
    });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': `portal-authentication/${version}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': this.signer.sign(id, now, body),
    };
    const { url, timeoutMs } = legacy;
    return boundedRequest(url, { timeoutMs, largestBody }, { method: 'POST', headers, body }).then((answer) =>
      'failure' in answer ? answer : verdictOf(answer.text),
    );
  }

  private async answerTo(question: LegacyQuestion): Promise<Answer> {
    try {
      return await this.circuit.execute(() => this.ask(question));
    } catch (error) {
      if (error instanceof BrokenCircuitError) return { failure: circuitOpen };
      throw error;
    }
  }
}

const circuitOpen = 'circuit open';

/**
 * A login can cause a status 4xx by its name or password, or the page of a firewall that takes it for an attack. Such an answer does not
 * open the circuit for everybody.
 */
function isOutage(answer: Answer): boolean {
  return 'failure' in answer && !/^(status 4|nonsense$|too large$|redirect$)/.test(answer.failure);
}

/** Only `{"result": true}` and `{"result": false}` are answers. Other members are ignored. */
function verdictOf(text: string): Answer {
  try {
    const { result } = (JSON.parse(text) ?? {}) as { result?: unknown };
    if (typeof result === 'boolean') return { verdict: result ? 'right' : 'wrong' };
  } catch {
    // Falls through: it is no JSON.
  }
  return { failure: 'nonsense' };
}
