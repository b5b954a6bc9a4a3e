import { createServer, type Server } from 'node:http';
import type Provider from 'oidc-provider';
import type { Configuration, Interaction } from 'oidc-provider';
import { listen, portOf, shut, urlOf } from './loopback';

/** What the provider says of a person. All of it is in the ID token, apart from `userinfoOnly`. */
export interface Person {
  readonly sub: string;
  readonly claims?: Record<string, unknown>;
  /** Claims that only the userinfo endpoint tells. */
  readonly userinfoOnly?: Record<string, unknown>;
  readonly amr?: readonly string[];
  readonly acr?: string;
  /** When the person was asked last. By default now. */
  readonly authTime?: Date;
}

export interface ProviderClientOptions {
  readonly clientId: string;
  readonly secret: string;
  readonly redirectUris: readonly string[];
  readonly backchannelLogoutUri?: string;
}

/**
 * The identity provider of a company, made with the package `oidc-provider`, on a port of its own. Nobody types a password:
 * the person of `signsIn` is there whenever a browser comes.
 */
export class CompanyProvider {
  /** The browsers' next answer: a person, or an error of the protocol. */
  private next: Person | { readonly error: string } | undefined;
  private readonly people = new Map<string, Person>();
  /** The parameters of the authorization requests, in the order of their arrival. */
  readonly asked: Record<string, string>[] = [];

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    private provider: Provider,
  ) {}

  static async start(clients: readonly ProviderClientOptions[]): Promise<CompanyProvider> {
    const server = createServer();
    await listen(server);
    const issuer = urlOf(server);
    const holder: { company?: CompanyProvider } = {};
    const provider = await quietly(async () => {
      const { Provider: Library } = await import('oidc-provider');
      return new Library(
        issuer,
        configurationOf(clients, () => holder.company!),
      );
    });
    const company = new CompanyProvider(issuer, server, provider);
    holder.company = company;
    const answer = provider.callback();
    server.on('request', (request, response) => {
      const uid = /^\/interaction\/([\w-]+)$/.exec(request.url ?? '')?.[1];
      void (uid === undefined
        ? answer(request, response)
        : company.interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error))));
    });
    return company;
  }

  /** Whoever comes from now on is this person. */
  signsIn(person: Person): this {
    this.next = person;
    this.people.set(person.sub, person);
    return this;
  }

  /** Whoever comes from now on is sent back with this error. */
  refuses(error: string): this {
    this.next = { error };
    return this;
  }

  personOf(sub: string): Person | undefined {
    return this.people.get(sub);
  }

  /** The provider is away: it answers nobody until it is back. */
  async away(): Promise<() => Promise<void>> {
    const port = portOf(this.server);
    await shut(this.server);
    return () => new Promise<void>((listening) => this.server.listen(port, '127.0.0.1', listening));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    if (this.server.listening) await new Promise((closed) => this.server.close(closed));
  }

  /** The page that asks for a password elsewhere: here it answers at once. */
  private async interact(
    request: Parameters<Provider['interactionDetails']>[0],
    response: Parameters<Provider['interactionDetails']>[1],
  ) {
    const interaction: Interaction = await this.provider.interactionDetails(request, response);
    const { prompt, params, session } = interaction;
    if (prompt.name === 'login') this.asked.push(params as Record<string, string>);
    const { next } = this;
    if (next === undefined) throw new Error('nobody is there');
    if ('error' in next) return this.provider.interactionFinished(request, response, { error: next.error });
    if (prompt.name === 'login') {
      const ts = Math.floor((next.authTime?.getTime() ?? Date.now()) / 1000);
      const login = { accountId: next.sub, amr: [...(next.amr ?? [])], ...(next.acr && { acr: next.acr }), ts };
      return this.provider.interactionFinished(request, response, { login });
    }
    const grant = new this.provider.Grant({ accountId: session!.accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    grant.addOIDCClaims([...claimNames]);
    const consent = { grantId: await grant.save() };
    return this.provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }
}

/** The package says that its keys and its memory are those of a development, and that this version of Node is old. */
async function quietly<T>(make: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  console.warn = console.info = () => undefined; // eslint-disable-line no-console
  try {
    return await make();
  } finally {
    Object.assign(console, { warn, info });
  }
}

/** Claims that a person may have. Each is a claim of the scope `openid`, so that it needs no further scope. */
const claimNames = [
  ...['email', 'email_verified', 'name', 'preferred_username', 'groups', 'employee', 'upn', 'department', 'given_name'],
];

function configurationOf(clients: readonly ProviderClientOptions[], company: () => CompanyProvider): Configuration {
  return {
    clients: clients.map(({ clientId, secret, redirectUris, backchannelLogoutUri }) => ({
      client_id: clientId,
      client_secret: secret,
      redirect_uris: [...redirectUris],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      ...(backchannelLogoutUri !== undefined && {
        backchannel_logout_uri: backchannelLogoutUri,
        backchannel_logout_session_required: true,
      }),
    })),
    claims: {
      openid: ['sub', 'acr', 'amr', ...claimNames],
      profile: [],
      email: [],
      acr: null,
      auth_time: null,
      iss: null,
      sid: null,
      amr: null,
    },
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    // Every claim of the scope is in the ID token, as Entra ID and Okta do it.
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      userinfo: { enabled: true },
    },
    clientDefaults: { require_auth_time: true },
    ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 86_400, IdToken: 3600, Interaction: 3600, Session: 86_400 },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: (use) => {
        const person = company().personOf(sub);
        return { sub, ...person?.claims, ...(use === 'userinfo' && person?.userinfoOnly) };
      },
    }),
  };
}
