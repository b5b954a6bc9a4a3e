import type { Audience } from '../platform/http/audience';
import {
  accessTokenExpired,
  accessTokenInvalid,
  accessTokenRevoked,
  youngSessionRequired,
  proofRejected,
  refreshTokenRejected,
} from '../shared/errors/error-catalogue';
import {
  AccessTokenGuard,
  OptionalSessionGuard,
  RefreshTokenGuard,
  SessionTokenGuard,
  SignInGuard,
  SignInOrSessionGuard,
} from './tokens.guard';
import { YoungSessionGuard } from './young-session.guard';

const refusals = [accessTokenInvalid, accessTokenExpired, accessTokenRevoked, proofRejected] as const;

/** A user with an access token. */
export const accessToken: Audience = { guards: [AccessTokenGuard], security: [{ access_token: [] }], refusals };

/** A user with an access token of a young session (docs/spec/extensions.md#young-session). */
export const youngSession: Audience = {
  guards: [AccessTokenGuard, YoungSessionGuard],
  security: [{ access_token: [] }],
  refusals: [...refusals, youngSessionRequired],
};

/** The public at a login: a proof of possession binds the tokens (docs/spec/extensions.md#n). */
export const signIn: Audience = { guards: [SignInGuard], security: [], refusals: [proofRejected] };

/** The public, and the session of an access token where there is one: `@Session()` is null without it. */
export const anyoneOrAccessToken: Audience = {
  guards: [OptionalSessionGuard],
  security: [{}, { access_token: [] }],
  refusals: [proofRejected],
};

/** Like `anyoneOrAccessToken`, for a route that answers tokens. */
export const signInOrAccessToken: Audience = { ...anyoneOrAccessToken, guards: [SignInOrSessionGuard] };

/** A client with either token of a session, for logout. */
export const sessionToken: Audience = {
  guards: [SessionTokenGuard],
  security: [{ refresh_token: [] }, { access_token: [] }],
  refusals,
};

/** A client with a refresh token, as bearer or in the body. `{}` is for the body, which no scheme of OpenAPI describes. */
export const refreshToken: Audience = {
  guards: [RefreshTokenGuard],
  security: [{}, { refresh_token: [] }],
  refusals: [refreshTokenRejected, proofRejected],
};
