import { Injectable } from '@nestjs/common';
import { CaptchaGateway } from '../../captcha/captcha-gateway';
import { CaptchaSettings } from '../../captcha/captcha-settings';
import { DirectorySettings } from '../../directory/ldap-settings';
import { RequiredProviderSettings } from '../../identity-providers/provider-address-settings';
import { LegacySystem } from '../../legacy/legacy-system';
import { Clock } from '../../shared/clock';
import { UsersRepository } from '../../users/users.repository';
import { IdentityProviderAdministration } from '../identity-provider-administration';
import { ProviderVerification } from '../provider-verification';
import type { Finding } from './finding';
import { checkCaptcha, checkLdap, checkLegacy } from './peer-checks';
import { checkIdentityProviders } from './provider-checks';

/** The servers that a sign-in asks. */
@Injectable()
export class SignInChecks {
  constructor(
    private readonly captcha: CaptchaSettings,
    private readonly gateway: CaptchaGateway,
    private readonly directory: DirectorySettings,
    private readonly legacy: LegacySystem,
    private readonly users: UsersRepository,
    private readonly providers: IdentityProviderAdministration,
    private readonly verification: ProviderVerification,
    private readonly required: RequiredProviderSettings,
    private readonly clock: Clock,
  ) {}

  ofCaptcha(): Promise<Finding> {
    return checkCaptcha(this.captcha, this.gateway);
  }

  ofLegacySystem(): Promise<Finding> {
    return checkLegacy(this.legacy, () => this.users.legacyLogins());
  }

  ofIdentityProviders(): Promise<Finding> {
    return checkIdentityProviders(this.providers, this.verification, this.clock.now(), this.required.providerId);
  }

  ofDirectory(): Promise<Finding> {
    return checkLdap(this.directory);
  }
}
