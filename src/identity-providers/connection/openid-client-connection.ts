import { Injectable } from '@nestjs/common';
import {
  type LogoutClaims,
  type ProviderAnswer,
  type ProviderClient,
  ProviderConnection,
  type ProviderFacts,
  ProviderRefused,
  type SignInRequest,
  type VerifiedAnswer,
} from '../provider-connection';
import { Configurations } from './configurations';
import { type Configuration, type Library, loadLibrary } from './library';
import { LogoutTokens } from './logout-tokens';
import { sorted } from './refusals';
import { verifiedAnswer } from './verified-answer';

/** Speaks OpenID Connect by the package `openid-client`. */
@Injectable()
export class OpenIdClientConnection extends ProviderConnection {
  constructor(
    private readonly configurations: Configurations,
    private readonly logoutTokens: LogoutTokens,
  ) {
    super();
  }

  discover(client: ProviderClient): Promise<ProviderFacts> {
    return this.speaking(async (library) => {
      const configuration = await this.configurations.discovered(library, client);
      const metadata = configuration.serverMetadata();
      await this.logoutTokens.loadKeys(library, client.issuer, metadata);
      return {
        issuer: metadata.issuer,
        authorizationEndpoint: metadata.authorization_endpoint,
        tokenEndpoint: metadata.token_endpoint,
        codeChallengeMethods: metadata.code_challenge_methods_supported,
        scopesSupported: metadata.scopes_supported,
        claimsSupported: metadata.claims_supported,
        hasUserinfo: metadata.userinfo_endpoint !== undefined,
        tellsLogout: metadata.backchannel_logout_supported === true,
      };
    });
  }

  acceptsClient(client: ProviderClient, redirectUri: string): Promise<boolean> {
    return this.speaking(async (loaded) => {
      const { openid } = loaded;
      const configuration = await this.configurations.of(loaded, client);
      const verifier = openid.randomPKCECodeVerifier();
      const request = { code: 'a code that nobody has issued', redirect_uri: redirectUri, code_verifier: verifier };
      try {
        await openid.genericGrantRequest(configuration, 'authorization_code', request);
      } catch (error) {
        const { reason } = sorted(error);
        if (reason === 'invalid_client' || reason === 'unauthorized_client') return false;
        // The provider has looked at the code, so it knows the client.
        if (reason !== 'invalid_grant') throw error;
      }
      return true;
    });
  }

  authorizationUrl(client: ProviderClient, request: SignInRequest): Promise<string> {
    return this.speaking(async (library) => {
      const { openid } = library;
      const configuration = await this.configurations.of(library, client);
      const { redirectUri, state, nonce, verifier, scopes, acrValues, fresh } = request;
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...{ state, nonce },
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
        ...(fresh && { max_age: '0', prompt: 'login' }),
      });
      return url.href;
    });
  }

  exchange(client: ProviderClient, { query, request, wantedClaims }: ProviderAnswer): Promise<VerifiedAnswer> {
    return this.speaking(async (library) => {
      const { openid } = library;
      const configuration = await this.configurations.of(library, client);
      const callback = new URL(`${request.redirectUri}?${query.toString()}`);
      const tokens = await openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: request.verifier,
        expectedState: request.state,
        expectedNonce: request.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new ProviderRefused('no_id_token');
      // The package would take it for a mistake of its caller.
      if (claims.sub === '') throw new ProviderRefused('sub');
      const lacks = wantedClaims.some((name) => claims[name] === undefined);
      const more = lacks ? await this.userinfo(openid, configuration, tokens.access_token, claims.sub) : {};
      return verifiedAnswer(client, claims, more);
    });
  }

  verifyLogoutToken(client: ProviderClient, token: string): Promise<LogoutClaims> {
    return this.speaking(async (library) => {
      const configuration = await this.configurations.of(library, client);
      return this.logoutTokens.verify(library, client, configuration.serverMetadata(), token);
    });
  }

  /** The `sub` of userinfo must be that of the ID token (OpenID Connect Core 1.0 section 5.3.2). */
  private async userinfo(
    openid: Library['openid'],
    configuration: Configuration,
    accessToken: string,
    sub: string,
  ): Promise<Record<string, unknown>> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return openid.fetchUserInfo(configuration, accessToken, sub);
  }

  private async speaking<T>(work: (library: Library) => Promise<T>): Promise<T> {
    const library = await loadLibrary();
    try {
      return await work(library);
    } catch (error) {
      throw sorted(error);
    }
  }
}
