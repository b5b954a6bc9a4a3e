import { Controller, Get, Header } from '@nestjs/common';
import { JwtSettings } from '../jwt-settings';
import { OwnFormat } from '../../platform/http/answers.decorator';
import { Admits, anyone } from '../../platform/http/audience';
import { ApiExcludeController } from '../../platform/http/api-docs';
import { NotRateLimited } from '../../platform/limits/rate-limited.decorator';

/**
 * The public keys that verify our tokens, including the former keys (RFC 7517). Empty for HS256, whose key is secret.
 */
@ApiExcludeController()
@Controller('.well-known')
@NotRateLimited()
@OwnFormat()
export class JwksController {
  private readonly keys: readonly object[];

  constructor(settings: JwtSettings) {
    const { algorithm, verification } = settings;
    this.keys =
      algorithm === 'HS256'
        ? []
        : verification.map(({ kid, key }) => ({ ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }));
  }

  @Get('jwks.json')
  @Admits(anyone)
  @Header('content-type', 'application/json; charset=utf-8')
  jwks(): { keys: readonly object[] } {
    return { keys: this.keys };
  }
}
