import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { AppConfig } from '../../platform/config/app-config';
import type { TokenPayload } from '../token-payload';

/** Signs with the one configured algorithm and the current key; times come in the payload, from the Clock. */
@Injectable()
export class TokenSigner {
  constructor(
    private readonly jwt: JwtService,
    private readonly config: AppConfig,
  ) {}

  sign(claims: Omit<TokenPayload, 'iss' | 'aud'>): string {
    const { issuer, audience, signing, algorithm } = this.config.jwt;
    return this.jwt.sign({ ...claims, iss: issuer, aud: audience }, {
      secret: signing.key,
      algorithm,
      keyid: signing.kid,
    } as object);
  }
}
