import type { Client, Provider } from 'oidc-provider';
import { secretMatches } from '../application-secret';
import { offeredScopes } from '../openid-scopes';
import type { BrowserRequest, ProviderPorts } from './ports';

type Fields = readonly string[];

/** A proof is accepted five minutes before and after its time, so its identifier is remembered for longer than both. */
const proofSeconds = 900;

/** What `Interactions` gives the provider about the session that signs in. */
export interface SignedIn {
  readonly accountId: string;
  readonly sid: string;
  readonly credentialVersion: number;
  readonly ts?: number;
  readonly amr: string[];
  readonly acr: string;
}

/**
 * What the models of the package do differently here. `test/spec/openid-*` fails when the package no longer calls them
 * in this way.
 */
export function adaptModels(
  provider: Provider,
  { settings, reads, records, clock, keys, library, endSession }: ProviderPorts,
): void {
  extend(provider.Session, ['sid', 'credentialVersion']);
  extend(provider.Interaction, ['browser']);
  extend(provider.Grant, ['credentialVersion']);

  Object.assign(provider.Client.prototype, {
    async compareClientSecret(this: { clientId: string }, secret: string) {
      return secretMatches(await reads.application(this.clientId), secret, clock.now());
    },
    /** Each ID token names the session, also of an application without a logout URI. */
    includeSid: () => true,
    /** Logout tokens leave through the outbox, with retries, for each end of a session (`application_logouts`). */
    backchannelLogout: () => Promise.resolve(),
  });

  const { getOIDCScopeFiltered } = provider.Grant.prototype as unknown as {
    getOIDCScopeFiltered: (filter: unknown) => string;
  };
  Object.assign(provider.Grant.prototype, {
    /** The package compares the scopes of the application only when a sign-in begins. Scopes that it has lost since are left out. */
    getOIDCScopeFiltered(filter: unknown) {
      const granted = getOIDCScopeFiltered.call(this, filter).split(' ');
      const allowed = library.Provider.ctx?.oidc.client?.scope?.split(' ') ?? [];
      return granted.filter((scope) => allowed.includes(scope)).join(' ');
    },
  });

  const { save: saveOfService } = provider.ClientCredentials.prototype as unknown as {
    save: (...given: unknown[]) => Promise<string>;
  };
  Object.assign(provider.ClientCredentials.prototype, {
    /** The package gives an application without any scope of the provider whichever it asks for. A service has none. */
    save(this: { scope?: string }, ...given: unknown[]) {
      const own = this.scope?.split(' ').filter((one) => !offeredScopes.includes(one));
      this.scope = own?.join(' ') || undefined;
      return saveOfService.call(this, ...given);
    },
  });

  const { loginAccount, persist, destroy } = provider.Session.prototype as unknown as Record<
    'loginAccount' | 'persist' | 'destroy',
    (...given: unknown[]) => unknown
  >;
  Object.assign(provider.Session.prototype, {
    /** Binds the session of the browser to the session of the service that has signed in. */
    loginAccount(this: OwnSession, details: object) {
      loginAccount.call(this, details);
      const login = library.Provider.ctx?.oidc.entities.Interaction?.result?.login as unknown as SignedIn | undefined;
      if (login === undefined) return;
      this.sid = login.sid;
      this.credentialVersion = login.credentialVersion;
    },
    /** `sid` in tokens is that of the service, the same for each application. */
    ensureClientContainer(this: OwnSession, clientId: string) {
      if (this.sidFor(clientId) === undefined) this.sidFor(clientId, this.sid);
    },
    /**
     * After an error on the form of a device, the package persists even a session that it has never saved, and throws. The
     * browser has no cookie of such a session, so the write is left out.
     */
    async persist(this: OwnSession) {
      if (this.exp !== undefined) await persist.call(this);
    },
    /** The package calls this only at a log-out that an application asked for: it ends the whole session. */
    async destroy(this: OwnSession) {
      const { portalClient } = library.Provider.ctx!.req as BrowserRequest;
      if (this.sid !== undefined && this.accountId !== undefined)
        await endSession(this.accountId, this.sid, portalClient!);
      await destroy.call(this);
    },
  });

  const { validate } = provider.IdToken as unknown as { validate: (hint: string, client: object) => Promise<object> };
  const algorithms = [...new Set(settings.keys.map(({ algorithm }) => algorithm))];
  Object.assign(provider.IdToken, {
    /** The package demands the algorithm of the current key of a hint. A former key may have another one. */
    validate: (hint: string, { clientId }: Client) =>
      Promise.any(
        algorithms.map((idTokenSignedResponseAlg) =>
          validate.call(provider.IdToken, hint, { clientId, idTokenSignedResponseAlg }),
        ),
      ),
  });

  /** The package would look first and then store: of two replicas, both would find nothing. */
  Object.assign(provider.ReplayDetection, {
    unique: (issuer: string, jti: string) =>
      records.useOnce('ReplayDetection', `${issuer}:${jti}`, clock.secondsFromNow(proofSeconds)),
  });

  const { save: saveInteraction } = provider.Interaction.prototype as unknown as {
    save: (ttl: number) => Promise<string>;
  };
  Object.assign(provider.Interaction.prototype, {
    save(this: { browser?: string }, ttl: number) {
      const request = library.Provider.ctx?.req as { portalBrowser?: string } | undefined;
      this.browser ??= request?.portalBrowser && keys.mac('oidc-browser', request.portalBrowser);
      return saveInteraction.call(this, ttl);
    },
  });
}

interface OwnSession {
  /** Undefined until the session is stored. */
  exp?: number;
  accountId?: string;
  sid?: string;
  credentialVersion?: number;
  sidFor(clientId: string): string | undefined;
  sidFor(clientId: string, sid: string | undefined): void;
}

/** The payloads of a model have only the fields of this list. */
function extend(model: object, own: Fields): void {
  const fields = (model as { IN_PAYLOAD: Fields }).IN_PAYLOAD;
  Object.defineProperty(model, 'IN_PAYLOAD', { value: [...fields, ...own] });
}
