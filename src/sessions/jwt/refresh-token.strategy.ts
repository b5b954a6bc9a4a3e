import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-jwt';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../../shared/clock';
import { JwtSettings } from '../jwt-settings';
import type { PresentedToken } from '../current-session';
import { bearerOrBody, checkBy, newlyPresented, verification } from './presented-token';

/** The strategy of `/refresh`. It does not read the token's row: the statement of SessionRefresher does (ADR 0014). */
@Injectable()
export class RefreshTokenStrategy extends PassportStrategy(Strategy, 'refresh-token') {
  readonly check = checkBy<PresentedToken>(this);

  constructor(
    private readonly clock: Clock,
    private readonly settings: JwtSettings,
  ) {
    super(verification(settings, bearerOrBody));
  }

  validate(request: FastifyRequest, claims: Record<string, unknown>): PresentedToken {
    return newlyPresented(bearerOrBody(request), claims, this.clock, this.settings);
  }
}
