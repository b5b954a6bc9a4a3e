import type { Strategy, StrategyOptionsWithRequest } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenExpired, accessTokenInvalid } from '../../shared/errors/error-catalogue';
import type { JwtSettings } from '../jwt-settings';
import type { PresentedToken } from '../current-session';
import { type Claims, isTokenPayload, type TokenPayload } from '../token-payload';
import { keyIdOf, refreshTokenType, typeOf } from './compact-jws';

type ReadToken = (request: FastifyRequest) => string | null;

/**
 * Reads `Authorization: Bearer` or `DPoP` and one token. TokenBinding compares the scheme with the token. The reader of
 * passport-jwt is not used: its pattern takes quadratic time for a value without a space, so one header could block the
 * event loop for half a second.
 */
export const bearer: ReadToken = ({ headers }) =>
  /^(?:bearer|dpop) +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;

/** Reads the bearer token, or else `refresh_token` of the body (docs/spec/decisions.md#4). */
export function bearerOrBody(request: FastifyRequest): string | null {
  const header = bearer(request);
  if (header !== null) return header;
  const body = request.body as { refresh_token?: unknown } | undefined;
  return typeof body?.refresh_token === 'string' ? body.refresh_token : null;
}

/**
 * Verifies the signature, with the configured algorithm and keys only, and the issuer (RFC 8725). The audience must be that of
 * access tokens or that of refresh tokens. `newlyPresented` compares it with the use of the token.
 */
export function verification<Request = FastifyRequest>(
  { algorithm, issuer, audience, refreshAudience, verification: keys }: JwtSettings,
  read: (request: Request) => string | null,
): StrategyOptionsWithRequest {
  return {
    jwtFromRequest: read as never,
    secretOrKeyProvider: (_request, token: string, done) => {
      const kid = keyIdOf(token);
      const key = kid === '' ? keys[0] : keys.find((one) => one.kid === kid);
      if (key === undefined) done(new Error('the token names no configured key'));
      else done(null, key.key as never);
    },
    algorithms: [algorithm],
    issuer,
    audience: [audience, refreshAudience],
    // `presentedToken` checks the expiry, by the Clock and without leeway.
    ignoreExpiration: true,
    passReqToCallback: true,
  };
}

/**
 * Checks that every claim is present and that the token has not expired by our clock.
 * @throws DomainError AUTH_401001, AUTH_401002
 */
export function presentedToken(token: string | null, claims: Claims, clock: Clock): PresentedToken {
  if (!isTokenPayload(claims)) throw new DomainError(accessTokenInvalid);
  const payload = claims as unknown as TokenPayload;
  const now = clock.epochSeconds();
  if (payload.exp <= now) throw new DomainError(accessTokenExpired);
  if (payload.iat > now + 60) throw new DomainError(accessTokenInvalid);
  return { payload, token: token ?? '' };
}

/**
 * Like `presentedToken`, for a token whose signature was just checked. The type and the audience must be those of its use
 * (docs/spec/extensions.md#stock-check), so that no token works as one of the other kind, whatever it calls itself.
 * @throws DomainError AUTH_401001, AUTH_401002
 */
export function newlyPresented(
  token: string | null,
  claims: Claims,
  clock: Clock,
  settings: JwtSettings,
): PresentedToken {
  const presented = presentedToken(token, claims, clock);
  if (!fitsItsUse(presented, settings)) throw new DomainError(accessTokenInvalid);
  return presented;
}

function fitsItsUse({ token, payload }: PresentedToken, { audience, refreshAudience }: JwtSettings): boolean {
  const type = typeOf(token);
  const isPlain = type === undefined || type === 'JWT';
  if (payload.token_use === 'access') return isPlain && payload.aud === audience;
  // Version 1.0.0 issued refresh tokens for the audience of access tokens, of the type JWT. They live for a session.
  const isFormer = payload.aud === audience;
  return type === refreshTokenType ? isFormer || payload.aud === refreshAudience : isPlain && isFormer;
}

/**
 * Returns a function that runs a passport strategy for one request. It resolves to what `validate` of the strategy
 * returned, or to false when the token is missing or its signature, issuer or audience is wrong. It rejects with what
 * `validate` threw.
 *
 * The middleware of passport does the same with an object and several closures of its own for each request. V8 then
 * keeps all objects of a request until the next full collection (ADR 0014). Here one class is made for all requests.
 */
export function checkBy<Result, Request = FastifyRequest>(
  strategy: Strategy,
): (request: Request) => Promise<Result | false> {
  class Check {
    constructor(
      readonly success: (result: Result) => void,
      readonly error: (reason: unknown) => void,
    ) {}

    fail(): void {
      (this.success as (result: false) => void)(false);
    }
  }
  // A strategy reports its result by methods that whoever runs it puts on an object derived from the strategy.
  Object.setPrototypeOf(Check.prototype, strategy);
  return (request) =>
    new Promise((resolve, reject) => {
      const check = new Check(resolve, reject) as Check & Strategy;
      check.authenticate(request as never);
    });
}
