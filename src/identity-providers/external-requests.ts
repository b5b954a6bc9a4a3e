import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { externalAnswerRejected, identityProviderUnavailable, routeNotFound } from '../shared/errors/error-catalogue';
import { Random } from '../shared/random';
import { type BegunSignIn, ExternalSignIns } from './external-sign-ins.repository';
import type { IdentityProvider } from './identity-provider.entity';
import { IdentityProviders } from './identity-providers.repository';
import { ProviderAddresses } from './provider-addresses';
import {
  type ProviderClient,
  ProviderAway,
  ProviderConnection,
  ProviderRefused,
  type SignInRequest,
  type VerifiedAnswer,
} from './provider-connection';
import { ProviderSecrets } from './provider-secrets';

export interface WantedSignIn {
  readonly providerId: string;
  /** The value of the browser's cookie. */
  readonly browser: string;
  readonly returnTo: string | undefined;
  /** The user who confirms a session by a new sign-in; undefined at a sign-in. */
  readonly confirms: string | undefined;
  /** The administrator who tries the provider, also a disabled one. */
  readonly tries?: string;
}

export interface AnswerOfProvider {
  readonly provider: IdentityProvider;
  readonly state: string;
  readonly begun: BegunSignIn;
  readonly verified: VerifiedAnswer;
}

/** The answer to a try was refused. `reason` is a fixed word. */
export class TryRefused extends Error {
  override readonly name = 'TryRefused';

  constructor(
    readonly state: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** The name of the cookie of a browser that signs in at a provider. */
export const externalCookie = 'external';

/** How far the clocks of a provider and of this service may be apart. */
const toleranceMs = 30_000;

/** RFC 6749 appendix A.11. A visitor can send any code to the callback, and the provider gets it from this service. */
const codeForm = /^[\x20-\x7e]{0,4096}$/;

/** The way of a browser to a provider and back (docs/spec/extensions.md#k). */
@Injectable()
export class ExternalRequests {
  constructor(
    private readonly providers: IdentityProviders,
    private readonly secrets: ProviderSecrets,
    private readonly signIns: ExternalSignIns,
    private readonly connection: ProviderConnection,
    private readonly random: Random,
    private readonly clock: Clock,
    private readonly addresses: ProviderAddresses,
  ) {}

  /** The address that the provider has to know. */
  callbackOf(providerId: string): string {
    return this.addresses.of(providerId).redirect_uri;
  }

  clientOf(provider: IdentityProvider): ProviderClient {
    const { issuer, clientId } = provider;
    return { issuer, clientId, clientSecret: this.secrets.open(provider) };
  }

  /**
   * @returns the address at the provider to which the browser goes
   * @throws DomainError COMMON_404001 for a provider that does not exist or is disabled, LOGIN_503002
   */
  async begin({ providerId, browser, returnTo, confirms, tries }: WantedSignIn): Promise<string> {
    const provider = await this.providers.find(providerId);
    if (provider === null || !isUsable(provider, tries)) throw new DomainError(routeNotFound);
    const [state, nonce, verifier] = [this.secret(), this.secret(), this.secret()];
    const { scopes, acrValues } = provider;
    const asked = { nonce, verifier, scopes, acrValues };
    const request = { ...asked, state, redirectUri: this.callbackOf(providerId), fresh: confirms !== undefined };
    const url = await this.connection.authorizationUrl(this.clientOf(provider), request).catch((error: unknown) => {
      // Nobody has answered yet: whatever is wrong is wrong with the provider.
      throw isOfProvider(error) ? unavailable(error) : error;
    });
    const begun = {
      identityProviderId: providerId,
      ...asked,
      returnTo,
      confirms,
      tries,
      beganAt: this.clock.now().getTime(),
    };
    await this.signIns.begin(state, browser, begun);
    return url;
  }

  /**
   * Takes the answer of a provider out of the query of the callback. The state is used up, whatever follows.
   * @throws DomainError LOGIN_401013, LOGIN_503002
   * @throws TryRefused
   */
  async answered(
    providerId: string,
    query: URLSearchParams,
    browser: string | undefined,
    wantedClaims: (provider: IdentityProvider) => readonly string[],
  ): Promise<AnswerOfProvider> {
    const [state, ...more] = query.getAll('state');
    if (state === undefined || more.length > 0 || browser === undefined) throw new DomainError(externalAnswerRejected);
    const begun = await this.signIns.take(state, browser, providerId);
    const provider = begun && (await this.providers.find(providerId));
    if (begun === undefined || !provider || !isUsable(provider, begun.tries)) {
      throw new DomainError(externalAnswerRejected);
    }
    const request: SignInRequest = {
      ...{ state, nonce: begun.nonce, verifier: begun.verifier, scopes: begun.scopes, acrValues: begun.acrValues },
      ...{ redirectUri: this.callbackOf(providerId), fresh: begun.confirms !== undefined },
    };
    try {
      if (!query.getAll('code').every((code) => codeForm.test(code))) throw new ProviderRefused('code');
      const answer = { query, request, wantedClaims: wantedClaims(provider) };
      const verified = await this.connection.exchange(this.clientOf(provider), answer);
      if (request.fresh) assertFresh(verified, begun);
      return { provider, state, begun, verified };
    } catch (error) {
      if (begun.tries !== undefined && isOfProvider(error)) throw new TryRefused(state, error.reason);
      if (error instanceof ProviderAway) throw unavailable(error);
      if (error instanceof ProviderRefused) throw new DomainError(externalAnswerRejected, undefined, { cause: error });
      throw error;
    }
  }

  private secret(): string {
    return this.random.bytes(32).toString('base64url');
  }
}

/** The provider must have asked the person since the request: the session there may be one of this morning. */
function assertFresh({ authTime }: VerifiedAnswer, { beganAt }: BegunSignIn): void {
  if (authTime === undefined || authTime.getTime() < beganAt - toleranceMs) throw new ProviderRefused('auth_time');
}

const isUsable = ({ enabled }: IdentityProvider, tries: string | undefined): boolean => enabled || tries !== undefined;

const isOfProvider = (error: unknown): error is ProviderAway | ProviderRefused =>
  error instanceof ProviderAway || error instanceof ProviderRefused;

const unavailable = (cause: ProviderAway | ProviderRefused): DomainError =>
  new DomainError(identityProviderUnavailable, undefined, { cause });
