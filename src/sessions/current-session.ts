import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Marked, marksOf } from '../platform/http/route-marks';
import type { sessionFields } from '../users/user-fields';
import type { User } from '../users/user.entity';
import type { TokenPayload } from './token-payload';

/** The user of a request. The check of the token reads it in the same statement (docs/spec/service.md#5.4). */
export type SessionUser = Readonly<Pick<User, (typeof sessionFields)[number]>>;

/** What `GET /user/me` shows of the account in addition. Only a route with `@WithAccount()` has it. */
export interface SessionAccount extends Pick<User, 'provider' | 'identityProviderId' | 'createdAt' | 'passwordSetAt'> {
  readonly recoveryCodesLeft: number;
  readonly passkeys: number;
}

/** A token with a valid signature, valid claims and a future expiry. Its row has not been checked yet. */
export interface PresentedToken {
  readonly payload: TokenPayload;
  /** The JWT as the client sent it. */
  readonly token: string;
}

export interface CurrentSession extends PresentedToken {
  readonly user: SessionUser;
  readonly credentialVersion: number;
  /** When the row of the presented token expires. */
  readonly expires: Date;
  readonly account?: SessionAccount;
  /** The names of the groups, sorted. Only a route with `@WithGroups()` or `@WithAccount()` has them. */
  readonly groups?: readonly string[];
}

/** The check of the token on this route also reads the account and the groups, in the same statement (ADR 0014). */
export const WithAccount = (): MethodDecorator => Marked({ account: true });

/** The check of the token on this route also reads the groups, in the same statement (ADR 0037). */
export const WithGroups = (): MethodDecorator => Marked({ groups: true });

/** What the check of a token reads beside the user. `account` includes the groups. */
export type AlsoRead = 'account' | 'groups';

export function alsoReadFor(request: FastifyRequest): AlsoRead | undefined {
  const { account, groups } = marksOf(request);
  if (account) return 'account';
  return groups ? 'groups' : undefined;
}

/** `@Session() session: CurrentSession` on a route behind a token guard. */
export const Session = createParamDecorator(
  (_data: unknown, context: ExecutionContext): CurrentSession =>
    context.switchToHttp().getRequest<FastifyRequest & { user: CurrentSession }>().user,
);

/** `@RefreshToken() presented: PresentedToken` on a route behind RefreshTokenGuard. SessionRefresher checks its row. */
export const RefreshToken = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PresentedToken =>
    context.switchToHttp().getRequest<FastifyRequest & { user: PresentedToken }>().user,
);
