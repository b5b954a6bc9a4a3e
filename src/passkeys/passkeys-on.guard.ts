import { type CanActivate, Injectable } from '@nestjs/common';
import { DomainError } from '../shared/errors/domain-error';
import { routeNotFound } from '../shared/errors/error-catalogue';
import { PasskeySettings } from '../sessions/passkey-settings';

/** Without passkeys, their routes answer like an unknown path (docs/spec/extensions.md#b). */
@Injectable()
export class PasskeysOn implements CanActivate {
  constructor(private readonly settings: PasskeySettings) {}

  /** @throws DomainError COMMON_404001 */
  canActivate(): true {
    if (this.settings.passkeys === undefined) throw new DomainError(routeNotFound);
    return true;
  }
}
