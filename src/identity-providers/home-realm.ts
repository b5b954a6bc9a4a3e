import { domainToASCII } from 'node:url';
import { Injectable } from '@nestjs/common';
import { DirectorySettings } from '../directory/ldap-settings';
import { identityKey } from '../shared/identity-key';
import type { Provider } from '../users/user.entity';
import { OfferedProviders } from './offered-providers';

export interface HomeRealm {
  readonly provider: Provider;
  /** The id of the identity provider; null for others. */
  readonly identityProvider: string | null;
}

/**
 * Where somebody signs in who types this name. The domain of the name decides alone: no account is looked up, so the answer
 * tells nothing about who exists (docs/spec/attacks.md#t553).
 */
@Injectable()
export class HomeRealms {
  private readonly directoryDomain: string | undefined;

  constructor(
    private readonly offered: OfferedProviders,
    { ldap }: DirectorySettings,
  ) {
    this.directoryDomain = ldap && domainOfBase(ldap.searchBase);
  }

  async of(username: string): Promise<HomeRealm> {
    const domain = domainOf(username);
    if (domain === '') return { provider: 'password', identityProvider: null };
    const owner = (await this.offered.all()).find(({ domains }) => domains.includes(domain));
    if (owner !== undefined) return { provider: 'oidc', identityProvider: owner.id };
    return { provider: domain === this.directoryDomain ? 'ldap' : 'password', identityProvider: null };
  }
}

function domainOf(username: string): string {
  const key = identityKey(username);
  const at = key.lastIndexOf('@');
  return at < 0 ? '' : domainToASCII(key.slice(at + 1));
}

/** `OU=People,DC=example,DC=com` is of the domain example.com (RFC 2247). */
function domainOfBase(searchBase: string): string | undefined {
  const parts = [...searchBase.matchAll(/(?:^|,)\s*dc\s*=\s*([^,+\\"]+)/gi)].map(([, part = '']) => part.trim());
  return parts.length < 2 ? undefined : domainToASCII(parts.join('.'));
}
