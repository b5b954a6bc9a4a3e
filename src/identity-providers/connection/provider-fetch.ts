import { Injectable, Logger } from '@nestjs/common';
import { ServiceSettings } from '../../platform/config/service-settings';
import { bareHost, kindOf } from '../../platform/http/address-kind';
import {
  type GuardedAnswer,
  type GuardedOutcome,
  guardedRequest,
  type GuardedRequest,
} from '../../platform/http/guarded-request';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { ProviderAddressSettings } from '../provider-address-settings';
import { ProviderAway } from '../provider-connection';
import { ProviderAnswers } from './provider-answers';
import { ProviderBulkhead } from './provider-bulkhead';
import { ProviderRequestCounts } from '../provider-request-counts';
import { ProviderLimits } from './provider-limits';
import { urlOf } from '../../shared/url-text';

/** For whom a request is made. */
export interface ProviderContext {
  readonly issuer: string;
  readonly signal?: AbortSignal;
  /** Asks the provider itself, also when it has answered a moment ago: an administrator looks whether it is repaired. */
  readonly fresh?: boolean;
}

/** As the parameter of `fetch` that `openid-client` gives. */
export type ProviderRequest = Pick<RequestInit, 'method' | 'headers' | 'body'> & { signal?: AbortSignal | null };

type Asked = Pick<GuardedRequest, 'url' | 'method' | 'headers' | 'body'>;
type Signals = readonly (AbortSignal | null | undefined)[];
type Outcome = GuardedAnswer | { readonly failure: string };

/** A provider that answers these to one request may still answer others. */
const ofOneRequest = ['status 429', 'status 500'];
/** Whoever fails like this has taken the connection: the provider, or a firewall before it that dislikes the request. */
const answered = /^(?:status |redirect$|no JSON$|compressed$|too large$|cut off$|ECONNRESET$|EPIPE$|HPE_)/;
const refusals = ['not permitted', 'link-local', 'inner address'];
const json = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Each request to an address of an identity provider: its discovery document, its keys, tokens, claims (docs/spec/extensions.md#k,
 * ADR 0036). https without redirects, bounded in time, size and number. Addresses of a private network only for the host of the
 * issuer, which a root administrator has entered, and for the hosts of `IDP_ALLOWED_HOSTS`.
 */
@Injectable()
export class ProviderFetch {
  private readonly logger = new Logger('identity-providers');
  private readonly throttles = new Map<string, LogThrottle>();
  private readonly bulkheads = new Map<string, ProviderBulkhead>();
  private readonly answers: ProviderAnswers;

  constructor(
    private readonly service: ServiceSettings,
    private readonly addresses: ProviderAddressSettings,
    private readonly clock: Clock,
    private readonly limits: ProviderLimits,
    private readonly counts: ProviderRequestCounts,
  ) {
    this.answers = new ProviderAnswers(clock, limits);
  }

  /** @throws ProviderAway when there is no usable answer. An answer with a status from 400 to 499 is usable, apart from 429 and a refused client. */
  async send(url: string, init: ProviderRequest, context: ProviderContext): Promise<Response> {
    const headers = Object.fromEntries(new Headers(init.headers ?? undefined).entries());
    const method = init.method === 'POST' ? 'POST' : 'GET';
    const body = textOf(init.body);
    // Only what is the same for everybody: no token, no claims. It ends in time for all who wait, not with one of them.
    const isShared = method === 'GET' && headers.authorization === undefined;
    const shows = isShared ? showsOutage : showsOutageToAll;
    const ask = (signals: Signals) => this.ask({ url, method, headers, body }, context.issuer, signals, shows);
    const { status, contentType, text } = isShared
      ? await this.answers.of(url, () => ask([]), context.fresh === true)
      : await ask([init.signal, context.signal]);
    // Only the token endpoint is posted to. 401 is for a client that it does not accept (RFC 6749 section 5.2), whatever the answer
    // calls it, and also where a challenge comes without a word.
    if (method === 'POST' && status === 401) throw new ProviderAway('invalid_client');
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? text : null, { status, headers: { 'content-type': contentType } });
  }

  private async ask(
    asked: Asked,
    issuer: string,
    signals: Signals,
    shows: (failure: string) => boolean,
  ): Promise<GuardedAnswer> {
    const ends = [...signals, AbortSignal.timeout(this.limits.answerMs)].filter((one) => one != null);
    const exchange = async (): Promise<Outcome> =>
      judged(
        await guardedRequest({
          ...asked,
          signal: AbortSignal.any(ends),
          connectMs: this.limits.connectMs,
          https: this.service.production,
          refuses: (address) => !this.mayBeInner(asked.url, issuer) && kindOf(address) === 'inner',
          largestBody: this.limits.largestBody,
        }),
      );
    try {
      const outcome = await this.bulkheadOf(issuer).run(exchange, (one) => 'failure' in one && shows(one.failure));
      if ('failure' in outcome) throw new ProviderAway(outcome.failure);
      this.counts.add(issuer, 'answered');
      return outcome;
    } catch (error) {
      if (error instanceof ProviderAway) this.report(issuer, error.reason);
      throw error;
    }
  }

  /** The host of the issuer, on any port, and what the operator allows. */
  private mayBeInner(url: string, issuer: string): boolean {
    const host = hostOf(url);
    return host !== undefined && (host === hostOf(issuer) || this.addresses.allowedHosts.includes(host));
  }

  private bulkheadOf(issuer: string): ProviderBulkhead {
    const known = this.bulkheads.get(issuer);
    if (known !== undefined) return known;
    // Providers are few. Issuers that an administrator tried are forgotten.
    for (const [one, bulkhead] of this.bulkheads) if (bulkhead.isIdle) this.bulkheads.delete(one);
    const bulkhead = new ProviderBulkhead(this.clock, this.limits);
    this.bulkheads.set(issuer, bulkhead);
    return bulkhead;
  }

  private report(issuer: string, reason: string): void {
    const skipped = reason === 'busy' || reason === 'avoided';
    this.counts.add(issuer, skipped ? 'skipped' : isRefusal(reason) ? 'refused' : 'failed');
    const throttle = this.throttles.get(issuer) ?? new LogThrottle();
    this.throttles.set(issuer, throttle);
    if (throttle.allows(this.clock.now())) {
      this.logger.warn({ issuer, reason }, 'an identity provider gave no usable answer');
    }
  }
}

const showsOutage = (failure: string): boolean => !isRefusal(failure) && !ofOneRequest.includes(failure);
/**
 * A visitor writes a part of a request for tokens or claims: the code of the callback. So an answer to it, whatever it is, says
 * nothing about the requests of others. Otherwise three visitors could switch the provider off for everybody.
 */
const showsOutageToAll = (failure: string): boolean => showsOutage(failure) && !answered.test(failure);
const isRefusal = (failure: string): boolean => refusals.includes(failure);
function hostOf(text: string): string | undefined {
  const url = urlOf(text);
  return url === undefined ? undefined : bareHost(url.hostname.toLowerCase());
}

function textOf(body: ProviderRequest['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a request to an identity provider has a form or a text');
}

/** An answer that no library has to see: a redirect, a status that does not exist, a page instead of JSON. */
function judged(outcome: GuardedOutcome): Outcome {
  if ('failure' in outcome) return outcome;
  const { status, contentType } = outcome;
  if (status >= 300 && status < 400) return { failure: 'redirect' };
  if (status < 200 || status === 429 || status >= 500) return { failure: `status ${status}` };
  if (status < 300 && !json.test(contentType)) return { failure: 'no JSON' };
  // The text of an error page is nobody's business, and its type may not be a value for a header.
  return json.test(contentType)
    ? { ...outcome, contentType: 'application/json' }
    : { ...outcome, contentType: 'text/plain', text: '' };
}
