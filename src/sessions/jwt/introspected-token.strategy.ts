import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../shared/clock';
import { AppConfig } from '../../platform/config/app-config';
import type { PresentedToken } from '../current-session';
import { presentedToken, verification } from './presented-token';
import { checkBy } from './strategy-check';

/** Another service asks about a token, which is not that of the request. */
export type TokenQuestion = Pick<FastifyRequest, 'headers'> & { readonly token: string };

/** The strategy of `/introspect`. It checks the signature, the claims and the expiry of a token of either use. */
@Injectable()
export class IntrospectedTokenStrategy extends PassportStrategy(Strategy, 'introspected-token') {
  readonly check = checkBy<PresentedToken>(this) as unknown as (
    question: TokenQuestion,
  ) => Promise<PresentedToken | false>;

  constructor(
    private readonly clock: Clock,
    config: AppConfig,
  ) {
    super(verification(config.jwt, tokenOf as never));
  }

  validate(question: TokenQuestion, claims: Record<string, unknown>): PresentedToken {
    return presentedToken(tokenOf(question), claims, this.clock);
  }
}

const tokenOf = ({ token }: TokenQuestion): string => token;
