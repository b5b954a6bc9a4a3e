import type { ClaimNames, IdentityProvider } from '../../../identity-providers/identity-provider.entity';
import type { ExternalPerson } from '../../../identity-providers/external-sign-ins.repository';
import type { Claims } from '../../../identity-providers/provider-connection';
import { domainOf, isPlainAddress } from '../../../shared/mail-address';
import { plainTextOf } from '../../../shared/plain-text';
import { isLoginName } from '../../../users/user-accounts';

type Mapping = Pick<IdentityProvider, 'claims' | 'matchClaim' | 'domains'>;

const nicknameLength = 255;
const externalIdLength = 255;
/** A provider that sends more has a claim that is no list of groups. */
const mostGroups = 1000;

/** The claims that a sign-in needs. */
export const wantedClaims = ({ claims, matchClaim }: Mapping): string[] =>
  [...claimNames.map((name) => claims[name]), matchClaim].filter((name) => name != null && name !== '') as string[];

const claimNames: readonly (keyof ClaimNames)[] = ['login_name', 'email', 'nickname', 'groups'];

/** Reads the claims of a person by the mapping of the provider. A claim that cannot be used is as one that is missing. */
export function mappedClaims({ claims, matchClaim, domains }: Mapping, said: Claims): ExternalPerson {
  const of = (name: string | null | undefined) => (name == null || name === '' ? undefined : said[name]);
  const loginName = of(claims.login_name);
  const email = of(claims.email);
  const nickname = of(claims.nickname);
  const externalId = of(matchClaim);
  const isWithin = (address: string) => domains.includes(domainOf(address));
  return {
    loginName: typeof loginName === 'string' && isLoginName(loginName) ? loginName : null,
    // A provider speaks for the people of its own domains only.
    email: isPlainAddress(email) && isVouchedFor(said) && (domains.length === 0 || isWithin(email)) ? email : null,
    nickname: typeof nickname === 'string' ? plainTextOf(nickname.slice(0, nicknameLength)) || null : null,
    externalId:
      typeof externalId === 'string' && externalId !== '' && externalId.length <= externalIdLength ? externalId : null,
    groups: groupsOf(of(claims.groups)),
    vouched: isPlainAddress(email) && isWithin(email),
  };
}

/** Some providers write `false` as a text. One that says nothing vouches for the address, as Entra ID does. */
const isVouchedFor = ({ email_verified: verified }: Claims): boolean =>
  verified === undefined || verified === true || verified === 'true';

/** Null: the provider has said nothing about groups, and nothing changes. */
function groupsOf(groups: unknown): string[] | null {
  const list = typeof groups === 'string' ? [groups] : groups;
  if (!Array.isArray(list) || list.length > mostGroups) return null;
  return [...new Set(list.filter((one): one is string => typeof one === 'string' && one !== ''))];
}
