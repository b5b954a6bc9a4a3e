import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { TokenPayload } from './token-payload';

/** What a token's check reads of its user, in the same statement: the scope of the request (§5.4). */
export interface SessionUser {
  readonly uid: string;
  readonly loginName: string;
  readonly nickname: string | null;
  readonly email: string | null;
  readonly isAdmin: boolean;
  readonly mfaType: 'email' | 'totp';
  readonly tenantId: string;
  readonly orgUnitId: string | null;
}

/** Signature, claims and expiry are good; whether its row still is has not been asked yet. */
export interface PresentedToken {
  readonly payload: TokenPayload;
  /** The JWT as it was presented. */
  readonly token: string;
}

export interface CurrentSession extends PresentedToken {
  readonly user: SessionUser;
  readonly credentialVersion: number;
  /** When the presented token's row expires. */
  readonly expires: Date;
}

/** `@Session() session: CurrentSession` on a route behind a token guard. */
export const Session = createParamDecorator(
  (_data: unknown, context: ExecutionContext): CurrentSession =>
    context.switchToHttp().getRequest<FastifyRequest & { user: CurrentSession }>().user,
);

/** `@RefreshToken() presented: PresentedToken` behind RefreshTokenGuard; SessionRefresher is what asks for its row. */
export const RefreshToken = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PresentedToken =>
    context.switchToHttp().getRequest<FastifyRequest & { user: PresentedToken }>().user,
);
