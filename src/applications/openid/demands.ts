import type { UnknownObject } from 'oidc-provider';
import type { LiveSession } from '../../sessions/live-sessions';
import { acrOf } from '../../sessions/authentication-context';

export const acrValues = ['urn:portal:acr:1', 'urn:portal:acr:2'];

const words = (value: unknown): readonly string[] => (typeof value === 'string' ? value.split(' ') : []);

/** `acr_values` lists what is accepted, in the order of preference (OpenID Core §3.1.2.1). */
export const demandsSecondFactor = ({ acr_values: accepted }: UnknownObject): boolean =>
  words(accepted).includes(acrValues[1]!) && !words(accepted).includes(acrValues[0]!);

/** What an ID token says about the authentication of the session. */
export const authenticationOf = ({ amr, authenticatedAt, startedAt }: LiveSession) => ({
  ts: Math.floor((authenticatedAt ?? startedAt).getTime() / 1000),
  amr: [...amr],
  acr: acrOf(amr),
});

/**
 * What the session lacks for the request. `prompt=login` and `max_age` ask for a check of a credential; one that came
 * after the request began satisfies both.
 */
export function lackOf(
  params: UnknownObject,
  began: Date,
  { amr, authenticatedAt }: LiveSession,
): { readonly secondFactor: boolean; readonly fresh: boolean } {
  const secondFactor = demandsSecondFactor(params) && acrOf(amr) !== acrValues[1];
  const maxAge = params.max_age === undefined ? undefined : Number(params.max_age);
  const oldest = words(params.prompt).includes('login') ? 0 : maxAge;
  if (oldest === undefined) return { secondFactor, fresh: false };
  return {
    secondFactor,
    fresh: authenticatedAt === null || authenticatedAt.getTime() < began.getTime() - oldest * 1000,
  };
}

export const asksForConsent = ({ prompt }: UnknownObject): boolean => words(prompt).includes('consent');

/** A user who has signed in since the request began has chosen the account by that, and is not asked. */
export const asksForAccount = ({ prompt }: UnknownObject, began: Date, { startedAt }: LiveSession): boolean =>
  words(prompt).includes('select_account') && startedAt.getTime() < began.getTime();
