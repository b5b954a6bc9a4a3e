import type { EventEmitter } from 'node:events';
import { Logger } from '@nestjs/common';
import type { ParameterizedContext } from 'koa';
import type { Adapter, Client, Configuration, JWK, Provider } from 'oidc-provider';
import { cookieName, pathCookieName } from '../../platform/http/browser-cookie';
import { admits } from '../application-access';
import { claimsOfScopes, offeredScopes } from '../openid-scopes';
import type { OpenIdKey } from '../openid-settings';
import { accountOf, hasLostItsScope } from './account';
import { leadsBack, metadataOf } from './client-metadata';
import { acrValues, demandsSecondFactor } from './demands';
import { adaptModels, type SignedIn } from './models';
import { answerOutage, isOutage, outages } from './outage';
import { askToSignOut, errorPage, sendForm, toPages } from './pages';
import type { ProviderPorts } from './ports';
import { postedRequests } from './posted-requests';
import { RecordAdapter } from './record-adapter';
import { refuseTargetsFirst, resourceServerOf } from './resources';
import { urlOf } from '../../shared/url-text';

const day = 86_400;
/** How long an interaction may take (docs/spec/extensions.md#j). */
const interactionSeconds = 3600;

const jwkOf = ({ algorithm, key }: OpenIdKey): JWK => ({
  ...key.export({ format: 'jwk' }),
  use: 'sig',
  alg: algorithm,
});

/** Makes the provider. Only this folder knows the package (ADR 0034). */
export function makeProvider(ports: ProviderPorts): Provider {
  const { settings, library } = ports;
  const adapter = (kind: string): Adapter =>
    kind === 'Client' ? clientAdapter(ports) : new RecordAdapter(kind, ports);
  const provider = new library.Provider(settings.issuer, configurationOf(ports, adapter));
  adaptModels(provider, ports);
  refuseTargetsFirst(provider, ports);
  // The endpoint sets `X-Forwarded-*` itself: every URL that the provider makes is the one of the issuer.
  provider.proxy = true;
  provider.use(outages);
  provider.use(postedRequests(settings.issuer));
  provider.use(replaceForeignSession(provider, ports));
  countAnswers(provider, ports);
  tellEmptyScopes(provider);
  const logger = new Logger('openid');
  provider.on('server_error', (ctx, error: unknown) => {
    if (isOutage(error)) answerOutage(ctx);
    else logger.error({ err: error }, 'the provider failed');
  });
  // Without a listener Koa would print the stack of a connection that breaks.
  (provider as EventEmitter).on('error', (error: unknown) => logger.debug({ err: error }, 'a request was cut'));
  return provider;
}

function countAnswers(provider: Provider, { counts }: ProviderPorts): void {
  const grantOf = (ctx: { oidc?: { params?: Record<string, unknown> } }) => ctx.oidc?.params?.grant_type;
  provider.on('authorization.success', () => counts.add('authorization'));
  provider.on('authorization.error', (_ctx, { error }) => counts.add('authorization', error));
  provider.on('grant.success', (ctx) => counts.add(grantOf(ctx)));
  provider.on('grant.error', (ctx, { error }) => counts.add(grantOf(ctx), error));
}

/**
 * Without `scope` in the answer, an application has got each scope that it has asked for (RFC 6749 §5.1). The package leaves out the
 * member for a service that has got none of them.
 */
function tellEmptyScopes(provider: Provider): void {
  provider.on('grant.success', ({ oidc, body }) => {
    const answer = body as { scope?: string };
    if (oidc.entities.ClientCredentials !== undefined && Boolean(oidc.body?.scope)) answer.scope ??= '';
  });
}

function configurationOf(ports: ProviderPorts, adapter: (kind: string) => Adapter): Configuration {
  const { settings, jwt, keys, systemUrl } = ports;
  const [{ algorithm }] = settings.keys;
  const algorithms = [...new Set(settings.keys.map((key) => key.algorithm))];
  return {
    adapter,
    jwks: { keys: settings.keys.map(jwkOf) },
    acrValues,
    scopes: offeredScopes,
    claims: { acr: null, auth_time: null, iss: null, sid: null, ...claims() },
    responseTypes: ['code'],
    // A page of an application asks for its tokens from an origin to which its users are sent back.
    clientBasedCORS: (_ctx, origin, client) =>
      client.redirectUris?.some((uri) => urlOf(uri)?.origin === origin) === true,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: {
      id_token_signed_response_alg: algorithm,
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
    enabledJWA: { idTokenSigningAlgValues: algorithms, dPoPSigningAlgValues: ['ES256', 'Ed25519', 'EdDSA'] },
    cookies: {
      keys: [...keys.secrets('oidc-cookies')],
      names: {
        session: cookieName(settings.issuer, 'session'),
        interaction: pathCookieName(settings.issuer, 'interaction'),
        resume: pathCookieName(settings.issuer, 'resume'),
      },
      long: { httpOnly: true, sameSite: 'lax', signed: true, path: '/' },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      claimsParameter: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, _form, _out, error) => toPages(ctx, systemUrl, '/device', deviceProblem(error)),
        // The page of the interaction asks: "Continue to …?"
        userCodeConfirmSource: (ctx, form) => sendForm(ctx, form),
        successSource: (ctx) => toPages(ctx, systemUrl, '/device', 'done'),
      },
      dPoP: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => mayAskAbout(ports, client, token) },
      pushedAuthorizationRequests: { enabled: true },
      registration: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => resourceServerOf(ports, ctx, resource, client),
      },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          const { session, entities } = ctx.oidc;
          const hint = entities.IdTokenHint?.payload as { sid?: string } | undefined;
          const sid = (session as unknown as { sid?: string } | undefined)?.sid;
          // Only an application that this session has signed in to has such a token, so nobody else ends the session unasked.
          if (sid !== undefined && hint?.sid === sid)
            sendForm(ctx, form, '<input type="hidden" name="logout" value="yes"/>');
          else askToSignOut(ctx, form);
        },
        postLogoutSuccessSource: (ctx) => toPages(ctx, systemUrl, '/'),
      },
      userinfo: { enabled: true },
    },
    // An access token of our own lives as long.
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? jwt.accessTtlSeconds,
      AuthorizationCode: 60,
      ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? jwt.accessTtlSeconds,
      DeviceCode: 600,
      Grant: 365 * day,
      IdToken: 3600,
      Interaction: interactionSeconds,
      RefreshToken: (_ctx, token) => (token.scopes.has('offline_access') ? 30 * day : jwt.refreshTtlSeconds),
      // Also a visitor without a sign-in gets one, for the form of a device or of a log-out.
      Session: (_ctx, session) => (session.accountId === undefined ? interactionSeconds : 30 * day),
    },
    // The records end with the session of the service, not with the cookie of the browser (`RecordAdapter`).
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    findAccount: (ctx, uid) => accountOf(ports, ctx, uid),
    loadExistingGrant: (ctx) => existingGrant(ports, ctx),
    interactions: { url: (_ctx, interaction) => signInPage(ports, interaction), policy: policy(ports) },
    renderError: (ctx, out) => errorPage(ctx, out),
  };
}

/** An application for one tenant alone shows the brand of this tenant, before anybody has signed in. */
async function signInPage(
  { reads, systemUrl }: ProviderPorts,
  { uid, params }: { readonly uid: string; readonly params: { readonly client_id?: unknown } },
): Promise<string> {
  const { allowedTenants = [] } = (await reads.application(String(params.client_id))) ?? {};
  const [tenant] = allowedTenants;
  const brand = tenant === undefined || allowedTenants.length > 1 ? '' : `&tenant=${encodeURIComponent(tenant)}`;
  return `${systemUrl}/?interaction=${uid}${brand}`;
}

const claims = () => Object.fromEntries(Object.entries(claimsOfScopes).map(([scope, names]) => [scope, [...names]]));

/** What the page of the device says: the user has refused, or the code is wrong, has expired or was used. */
function deviceProblem(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error && error.name === 'AbortedError' ? 'aborted' : 'refused';
}

/**
 * An application asks about its own tokens. One that keeps a secret, such as a resource server, may ask about any. A token of an
 * application that is disabled or deleted, or that its user may not use any more, is not active.
 */
async function mayAskAbout(
  { reads, members }: ProviderPorts,
  client: Client,
  token: { readonly kind: string; readonly clientId?: string; readonly accountId?: string; scope?: string },
): Promise<boolean> {
  const { clientId, accountId } = token;
  if (client.clientAuthMethod === 'none' && clientId !== client.clientId) return false;
  const application = await reads.application(clientId ?? '');
  if (application?.enabled !== true) return false;
  const scopes = token.scope?.split(' ') ?? [];
  if (token.kind === 'RefreshToken' && hasLostItsScope(scopes, application)) return false;
  // The answer tells the scopes of the token.
  token.scope = scopes.filter((scope) => application.scopes.includes(scope)).join(' ');
  const user = accountId === undefined ? undefined : await reads.user(accountId);
  return user === undefined || (user !== null && admits(application, user, () => members.groupsOf(user)));
}

type Context = Parameters<NonNullable<Configuration['loadExistingGrant']>>[0];

/** What a user has allowed once is not asked again, in any session, until the grant ends. */
async function existingGrant({ records }: ProviderPorts, ctx: Context) {
  const { result, session, client, provider, params = {} } = ctx.oidc;
  // Without a grant the pages are asked again, and they refuse.
  if (client !== undefined && !leadsBack(client, params)) return undefined;
  const id = result?.consent?.grantId ?? (client && session?.grantIdFor(client.clientId));
  const grant = id === undefined ? undefined : await provider.Grant.find(id);
  if (grant !== undefined || session?.accountId === undefined || client === undefined) return grant;
  const { credentialVersion } = session as unknown as { credentialVersion?: number };
  if (credentialVersion === undefined) return undefined;
  const found = await records.findGrant(session.accountId, client.clientId, credentialVersion);
  return found === undefined ? undefined : provider.Grant.find(String(found.payload.jti));
}

/** The rules of the package, and three of our own. Each leads to the pages, or with `prompt=none` to an error. */
function policy({ library, reads, members }: ProviderPorts) {
  const { base, Check, Prompt } = library.interactionPolicy;
  const rules = base();
  rules.add(new Prompt({ name: 'select_account', requestable: true }), 0);
  const { checks } = rules.get('login')!;
  checks.add(
    new Check('second_factor', 'a second factor is required', 'login_required', (ctx) => {
      const { params = {}, session } = ctx.oidc;
      return session?.accountId !== undefined && demandsSecondFactor(params) && session.acr !== acrValues[1];
    }),
  );
  checks.add(
    new Check('not_admitted', 'the user may not use this application', 'access_denied', async (ctx) => {
      const { session, client } = ctx.oidc;
      if (session?.accountId === undefined || client === undefined) return false;
      const [application, user] = await Promise.all([
        reads.application(client.clientId),
        reads.user(session.accountId),
      ]);
      if (application === null || user === null) return true;
      return !(await admits(application, user, () => members.groupsOf(user)));
    }),
  );
  return rules;
}

/**
 * The browser goes on with the session that has signed in now. If it has a provider session of another one, of the same
 * user or not, that one is forgotten in this browser: nobody goes on in it.
 */
function replaceForeignSession(provider: Provider, { records }: ProviderPorts) {
  return async (ctx: ParameterizedContext, next: () => Promise<unknown>): Promise<void> => {
    const uid = /^\/(?:auth|device)\/([\w-]+)$/.exec(ctx.path)?.[1];
    const id = uid === undefined ? undefined : ctx.cookies.get(provider.cookieName('session'), { signed: true });
    if (uid !== undefined && id !== undefined) {
      const login = (await provider.Interaction.find(uid))?.result?.login as unknown as SignedIn | undefined;
      const { sid } = ((await provider.Session.find(id)) ?? {}) as { sid?: string };
      if (login !== undefined && sid !== undefined && sid !== login.sid) await records.remove('Session', id);
    }
    await next();
  };
}

function clientAdapter({ reads }: ProviderPorts): Adapter {
  const notOffered = () => Promise.reject(new Error('applications are not stored through the provider'));
  return {
    find: async (id) => metadataOf(await reads.client(id)),
    upsert: notOffered,
    findByUid: notOffered,
    findByUserCode: notOffered,
    consume: notOffered,
    destroy: notOffered,
    revokeByGrantId: notOffered,
  };
}
