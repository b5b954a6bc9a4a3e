import type { IdentityProvider } from './identity-provider.entity';

/** From then on doctor and the overview warn. */
export const secretWarningDays = 30;
const dayMs = 86_400_000;

/** Days until the provider ends the secret; negative when it has. */
export const secretDaysLeft = (expires: Date, now: Date): number => (expires.getTime() - now.getTime()) / dayMs;

/** @returns undefined while nobody has to do anything */
export function describeSecretEnd(
  { clientSecretExpires: expires }: Pick<IdentityProvider, 'clientSecretExpires'>,
  now: Date,
): { readonly over: boolean; readonly text: string } | undefined {
  if (expires === null) return undefined;
  const days = secretDaysLeft(expires, now);
  if (days > secretWarningDays) return undefined;
  const at = expires.toISOString().slice(0, 10);
  if (days <= 0) return { over: true, text: `the secret has ended on ${at}: store another one` };
  return { over: false, text: `the secret ends on ${at}, in ${Math.floor(days)} days` };
}
