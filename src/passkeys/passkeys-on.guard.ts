import { type CanActivate, Injectable } from '@nestjs/common';
import { DomainError } from '../shared/errors/domain-error';
import { routeNotFound } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';

/** Without passkeys, their routes answer like an unknown path (docs/spec/extensions.md#b). */
@Injectable()
export class PasskeysOn implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  /** @throws DomainError COMMON_404001 */
  canActivate(): true {
    if (this.config.passkeys === undefined) throw new DomainError(routeNotFound);
    return true;
  }
}
