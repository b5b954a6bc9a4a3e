import { randomBytes } from 'node:crypto';
import type { IdentityProvider } from '../../src/identity-providers/identity-provider.entity';
import { ProviderSecrets } from '../../src/identity-providers/provider-secrets';
import type { TestService } from './app';

/** The row of an identity provider, without a secret. */
export function identityProviderRow(now: Date, more: Partial<IdentityProvider> = {}) {
  const row: Omit<IdentityProvider, 'held'> = {
    id: 'acme',
    name: 'Acme',
    issuer: 'https://idp.example.com',
    clientId: 'portal',
    clientSecret: null,
    clientSecretExpires: null,
    scopes: ['openid', 'profile', 'email'],
    acrValues: [],
    domains: [],
    claims: { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: null },
    matchClaim: null,
    tenantId: 'root',
    jit: false,
    trustMfa: false,
    listed: true,
    enabled: true,
    createdAt: now,
    changedAt: now,
    ...more,
  };
  const columns = Object.keys(row) as (keyof typeof row)[];
  const values = columns.map((name) => {
    const value = row[name];
    const isJson = typeof value === 'object' && value !== null && !(value instanceof Date);
    return isJson ? JSON.stringify(value) : value;
  });
  const names = columns.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const statement = `INSERT INTO identity_providers (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return { row, statement, values };
}

export interface GivenProvider extends Partial<Omit<IdentityProvider, 'clientSecret'>> {
  /** As the service sends it to the provider; by default there is a random one. */
  readonly secret?: string | null;
  /** The sealed form, for tests of the column. */
  readonly clientSecret?: string | null;
}

/** Stores an identity provider. @returns its row, and the secret that the provider has to know */
export async function givenIdentityProvider(service: TestService, more: GivenProvider = {}) {
  const { secret = randomBytes(24).toString('base64url'), ...rest } = more;
  const clientSecret = service.app.get(ProviderSecrets, { strict: false }).seal(secret);
  const { row, statement, values } = identityProviderRow(service.clock.now(), { clientSecret, ...rest });
  await service.database.affected(statement, values);
  service.secrets.add('the secret of the service at a provider', secret);
  return { ...row, secret };
}
