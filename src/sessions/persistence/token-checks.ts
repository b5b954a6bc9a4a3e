import type { Clock } from '../../shared/clock';
import { groupNames } from '../../groups/group-names';
import { RecentKeys } from '../../shared/recent-keys';
import { timeOf, timeOrNull } from '../../platform/database/sql';
import type { SessionAccount, SessionUser } from '../current-session';
import type { TokenPayload } from '../token-payload';
import type { AccountDetail, AccountRow, SharedStatements, TokenRow } from './shared-statements';

export interface CheckedToken {
  /** False when the token or its session is revoked, the credential version has changed, or the user is not enabled. */
  readonly live: boolean;
  readonly user: SessionUser;
  readonly credentialVersion: number;
  readonly expires: Date;
  readonly account?: SessionAccount;
  /** Sorted. Only `findWithGroups` and `findWithAccount` tell them. */
  readonly groups?: readonly string[];
  /** See RefreshedUser. */
  readonly directorySeenAt: Date | null;
  // See RefreshedUser. Only `findForRotation` tells these two.
  readonly crowded: boolean;
  readonly authenticatedAt: Date | null;
}

/** The values that a check of a live token leaves for the next check of the same token. */
interface SeenAccount {
  /** A new password ends the token, so this time stays true. Null without an entry in the history. */
  readonly passwordSetAt: Date | null;
  /** Whether the user has ever made recovery codes or a passkey. It never becomes false again. */
  readonly ownFactors: boolean;
}

/** At most 1 MB. */
const remembered = 4096;

/** Finds the row of a token with its user. Each method returns undefined when the row does not belong to the claims. */
export class TokenChecks {
  /**
   * The accounts of recently checked tokens, by the `jti` of the token. A check reads less of an account that is in here
   * (ADR 0014): the time of the password costs as much as all other columns together, and the counts cost a third of them.
   */
  private readonly seenAccounts = new RecentKeys<SeenAccount>(remembered);

  constructor(
    private readonly shared: SharedStatements,
    private readonly clock: Clock,
  ) {}

  async find(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return checkedToken(payload, await this.shared.find(payload.jti));
  }

  async findForRotation(payload: TokenPayload): Promise<CheckedToken | undefined> {
    return checkedToken(payload, await this.shared.findForRotation(payload.jti));
  }

  async findWithGroups(payload: TokenPayload): Promise<CheckedToken | undefined> {
    const row = await this.shared.findWithGroups(payload.jti);
    return checkedToken(payload, row, { groups: groupNames(row?.group_names) });
  }

  async findWithAccount(payload: TokenPayload): Promise<CheckedToken | undefined> {
    const { jti } = payload;
    const seen = this.seenAccounts.get(jti);
    let row = await this.shared.findWithAccount(jti, detailAfter(seen));
    if (seen?.ownFactors === false && hasOwnFactors(row)) {
      row = await this.shared.findWithAccount(jti, 'counts');
    }
    if (row === undefined) return undefined;
    const passwordSetAt = seen === undefined ? timeOrNull(row.password_set_at) : seen.passwordSetAt;
    const account = accountOf(row, passwordSetAt);
    const found = checkedToken(payload, row, { account, groups: groupNames(row.group_names) });
    if (found === undefined) return undefined;
    const ownFactors = hasOwnFactors(row);
    if (found.live && seen?.ownFactors !== ownFactors) this.remember(jti, { passwordSetAt, ownFactors }, found);
    return found;
  }

  /** Nothing is remembered for longer than the token lives. */
  private remember(jti: string, account: SeenAccount, { expires }: CheckedToken): void {
    const now = this.clock.now().getTime();
    this.seenAccounts.set(jti, account, now, expires.getTime() - now);
  }
}

function detailAfter(seen: SeenAccount | undefined): AccountDetail {
  if (seen === undefined) return 'all';
  return seen.ownFactors ? 'counts' : 'flag';
}

function checkedToken(
  { sid, sub, token_use }: TokenPayload,
  row: TokenRow | undefined,
  { account, groups }: Pick<CheckedToken, 'account' | 'groups'> = {},
): CheckedToken | undefined {
  if (row?.sid !== sid || row.uid !== sub || row.token_type !== token_use) return undefined;
  return {
    live: Number(row.live) === 1,
    credentialVersion: row.credential_version,
    expires: timeOf(row.expires),
    directorySeenAt: timeOrNull(row.directory_seen_at),
    crowded: Number(row.crowded) === 1,
    authenticatedAt: timeOrNull(row.authenticated_at),
    account,
    groups,
    // Each request comes here. With loops over the fields, here and in the answer, GET /user/me made 0.84 of its requests. A
    // field that is missing does not compile. An object that is copied with `...` is slow as well (ADR 0014).
    user: {
      uid: row.uid,
      loginName: row.loginName,
      email: row.email,
      nickname: row.nickname,
      isAdmin: Number(row.isAdmin) === 1,
      role: row.role,
      mfaType: row.mfaType,
      tenantId: row.tenantId,
      orgUnitId: row.orgUnitId,
    },
  };
}

function accountOf(row: AccountRow, passwordSetAt: Date | null): SessionAccount {
  return {
    provider: row.provider,
    identityProviderId: row.identity_provider_id,
    createdAt: timeOf(row.user_created_at),
    passwordSetAt,
    recoveryCodesLeft: Number(row.recovery_codes_left ?? 0),
    passkeys: Number(row.passkeys ?? 0),
  };
}

const hasOwnFactors = (row: AccountRow | undefined): boolean => Number(row?.own_factors) === 1;
