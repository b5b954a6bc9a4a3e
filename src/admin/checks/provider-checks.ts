import type { IdentityProviderAdministration } from '../../admin/identity-provider-administration';
import type { ProviderVerification } from '../../admin/provider-verification';
import type { IdentityProvider } from '../../identity-providers/identity-provider.entity';
import { describeSecretEnd } from '../../identity-providers/secret-end';
import { type Finding, finding } from './finding';

/** So many providers are asked at a time. */
const atOnce = 8;

/**
 * Asks each enabled identity provider for its document and keys, tries the secret, and looks at the end of the secret.
 * @param ofScim where the users that SCIM makes sign in, if that is a provider
 */
export function checkIdentityProviders(
  providers: IdentityProviderAdministration,
  verification: ProviderVerification,
  now: Date,
  ofScim: string | null,
): Promise<Finding> {
  return finding(
    'idp',
    async (signal) => {
      const enabled = (await providers.list()).map(({ provider }) => provider).filter((one) => one.enabled);
      if (ofScim !== null && !enabled.some(({ id }) => id === ofScim)) {
        return ['problem', `SCIM_IDENTITY_PROVIDER: there is no enabled identity provider ${ofScim}`];
      }
      if (enabled.length === 0) return ['skipped', 'no identity provider is enabled'];
      const looks: Look[] = [];
      for (let next = 0; next < enabled.length && !signal.aborted; next += atOnce) {
        const some = enabled.slice(next, next + atOnce);
        looks.push(...(await Promise.all(some.map((provider) => look(provider, verification, now)))));
      }
      const text = looks.map(({ said }) => said).join('; ');
      if (looks.some(({ problem }) => problem)) return ['problem', text];
      return [looks.some(({ warned }) => warned) ? 'warn' : 'ok', text];
    },
    (error) => (error as Error).message,
  );
}

interface Look {
  readonly said: string;
  readonly problem: boolean;
  readonly warned: boolean;
}

async function look(provider: IdentityProvider, verification: ProviderVerification, now: Date): Promise<Look> {
  const { problems, secret } = await verification.report(provider);
  const end = describeSecretEnd(provider, now);
  const told = [...problems, ...(end === undefined ? [] : [end.text])];
  return {
    said: `${provider.id} ${told.length === 0 ? `answers, secret ${secret}` : told.join(', ')}`,
    problem: problems.length > 0 || end?.over === true,
    warned: end !== undefined,
  };
}
