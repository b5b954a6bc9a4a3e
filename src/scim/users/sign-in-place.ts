import { Injectable } from '@nestjs/common';
import { IdentityProviders } from '../../identity-providers/identity-providers.repository';
import type { NewUser } from '../../users/user-accounts';
import { identityProviderNotReady } from '../protocol/scim-error';
import { ScimSettings } from '../scim-settings';

/** Where the users that SCIM makes sign in. */
@Injectable()
export class ScimSignInPlace {
  constructor(
    private readonly settings: ScimSettings,
    private readonly providers: IdentityProviders,
  ) {}

  /**
   * A user of a provider that is missing or disabled could not sign in, and nobody would see why.
   * Race: the provider is deleted meanwhile. The creation holds its row, and is refused (`assertProviderOf`).
   * @throws ScimError 503, so that the client sends the user again
   */
  async ofNewUser(): Promise<Pick<NewUser, 'provider' | 'identityProviderId'>> {
    const { provider, identityProvider: id } = this.settings.scim!;
    if (id !== null && (await this.providers.find(id))?.enabled !== true) throw identityProviderNotReady(id);
    return { provider, identityProviderId: id };
  }
}
