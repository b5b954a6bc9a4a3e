import { RecentKeys } from '../../shared/recent-keys';

/** How much a check of a token reads of the account for `GET /user/me`. Other checks read nothing of it. */
export type AccountDetail = 'flag' | 'counts' | 'all';

/** What a check of a live token has read of the account. */
export interface SeenAccount {
  /** A new password ends the token, so this time stays true. Null without an entry in the history. */
  readonly passwordSetAt: Date | null;
  /** Whether the user has ever made recovery codes or a passkey. It never becomes false again. */
  readonly ownFactors: boolean;
}

/** At most 1 MB. */
const remembered = 4096;

/**
 * Remembers by the `jti` of a token what its next check need not read (ADR 0014): the time of the password costs as much
 * as all else that a check reads, and the counts of own factors cost a third.
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
