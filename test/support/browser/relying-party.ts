import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as openid from 'openid-client';
import type { Application } from '../../../src/applications/application.entity';
import { listen, shut, urlOf } from '../loopback';
import { givenApplication } from '../openid';
import type { PortalSite } from './portal-site';

type Kind = Partial<Pick<Application, 'name' | 'type' | 'scopes' | 'firstParty' | 'allowedTenants' | 'logoUrl'>>;

interface Begun {
  readonly verifier: string;
  readonly nonce: string;
}

/** An application whose users sign in at the portal: `/start` begins, with the parameters of its query in the request. */
export class RelyingParty {
  private readonly begun = new Map<string, Begun>();

  private constructor(
    readonly id: string,
    readonly name: string,
    private readonly server: Server,
    private readonly scopes: readonly string[],
    private readonly config: openid.Configuration,
  ) {}

  static async start(site: PortalSite, kind: Kind = {}): Promise<RelyingParty> {
    const { name = 'Grafana', scopes = ['openid', 'profile', 'email'] } = kind;
    const server = createServer();
    await listen(server);
    const redirectUris = [`${urlOf(server)}/callback`];
    const uri = `${urlOf(server)}/start`;
    const { id, secret } = await givenApplication(site.service, { ...kind, name, scopes, redirectUris, uri });
    const config = await openid.discovery(
      new URL(`${site.url}/oidc`),
      id,
      undefined,
      secret === undefined ? openid.None() : openid.ClientSecretBasic(secret),
      { execute: [openid.allowInsecureRequests] },
    );
    const party = new RelyingParty(id, name, server, scopes, config);
    server.on('request', (request, response) => void party.answer(request, response));
    return party;
  }

  get url(): string {
    return urlOf(this.server);
  }

  /** @param query parameters of the request, for example `prompt=login` */
  start(query = ''): string {
    return `${this.url}/start?${query}`;
  }

  /** The code for a device, and the tokens that it gets when its user has agreed. */
  async device(): Promise<{ readonly code: string; readonly tokens: () => Promise<openid.IDToken | undefined> }> {
    const answer = await openid.initiateDeviceAuthorization(this.config, { scope: this.scopes.join(' ') });
    const tokens = () => openid.pollDeviceAuthorizationGrant(this.config, { ...answer, interval: 1 });
    return { code: answer.user_code, tokens: async () => (await tokens()).claims() };
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url);
    if (url.pathname === '/start') {
      response.writeHead(302, { location: (await this.begin(url.searchParams)).href }).end();
      return;
    }
    const page = url.pathname === '/callback' ? await this.finish(url) : this.name;
    const icon = '<link rel="icon" href="data:," />';
    response.setHeader('content-type', 'text/html').end(`<!doctype html>${icon}<h1>${page}</h1>`);
  }

  private async begin(query: URLSearchParams): Promise<URL> {
    const [state, nonce, verifier] = [openid.randomState(), openid.randomNonce(), openid.randomPKCECodeVerifier()];
    this.begun.set(state, { verifier, nonce });
    return openid.buildAuthorizationUrl(this.config, {
      ...{ redirect_uri: `${this.url}/callback`, scope: this.scopes.join(' '), state, nonce },
      ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      ...Object.fromEntries(query),
    });
  }

  /** @returns what the page says: who has signed in, or the error of the answer */
  private async finish(url: URL): Promise<string> {
    const state = url.searchParams.get('state') ?? '';
    const { verifier, nonce } = this.begun.get(state)!;
    this.begun.delete(state);
    try {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
      const tokens = await openid.authorizationCodeGrant(this.config, url, checks);
      const claims = tokens.claims()!;
      const user = await openid.fetchUserInfo(this.config, tokens.access_token, claims.sub);
      return `${this.name}: ${user.preferred_username ?? claims.sub} with ${claims.acr as string}`;
    } catch (error) {
      if (error instanceof openid.AuthorizationResponseError) return `${this.name}: ${error.error}`;
      throw error;
    }
  }
}
