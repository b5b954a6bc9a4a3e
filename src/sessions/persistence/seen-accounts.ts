import { RecentKeys } from '../../shared/recent-keys';

/**
 * The columns of the account that `GET /user/me` reads with the check of its token. Other checks read none of them.
 * `flag`: whether the user has own factors; `counts`: also how many; `all`: also the time of the password.
 */
export type AccountDetail = 'flag' | 'counts' | 'all';

/** The values that a check of a live token leaves for the next check of the same token. */
export interface SeenAccount {
  /** A new password ends the token, so this time stays true. Null without an entry in the history. */
  readonly passwordSetAt: Date | null;
  /** Whether the user has ever made recovery codes or a passkey. It never becomes false again. */
  readonly ownFactors: boolean;
}

/** At most 1 MB. */
const remembered = 4096;

/**
 * The accounts of recently checked tokens, by the `jti` of the token. A check reads less of an account that is in here
 * (ADR 0014): the time of the password costs as much as all other columns together, and the counts cost a third of them.
 */
export class SeenAccounts {
  private readonly accounts = new RecentKeys<SeenAccount>(remembered);

  get(jti: string): SeenAccount | undefined {
    return this.accounts.get(jti);
  }

  /** @param now and expires are times of one clock. Nothing is remembered for longer than the token lives. */
  set(jti: string, account: SeenAccount, { now, expires }: { now: Date; expires: Date }): void {
    this.accounts.set(jti, account, now.getTime(), expires.getTime() - now.getTime());
  }
}

export function detailAfter(seen: SeenAccount | undefined): AccountDetail {
  if (seen === undefined) return 'all';
  return seen.ownFactors ? 'counts' : 'flag';
}
