import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { OwnFactors } from './own-factors';
import { userStatus } from './user.entity';

export interface Adoption {
  /** The enabled users who were looked at. */
  readonly users: number;
  readonly authenticator: number;
  readonly passkey: number;
  /** Those without both: a code by mail or nothing is their second factor. */
  readonly neither: number;
  /** Whether there are more users. Then the numbers are those of a sample. */
  readonly sampled: boolean;
}

/** Users of one look: some milliseconds. The share of a factor is right to about two per cent. */
export const sampledUsers = 2000;

/**
 * How many users have a factor that a phisher cannot ask for. The users are the first ones by uid, which is random, so they are a sample,
 * and the same one each time. The work is bounded by the rows that are read, not by those that match.
 */
@Injectable()
export class FactorAdoption {
  constructor(
    private readonly database: Database,
    private readonly factors: OwnFactors,
  ) {}

  /** @param tenantId undefined for all tenants */
  async of(tenantId: string | undefined): Promise<Adoption> {
    // The index of a tenant ends with the uid. The optimizer would sometimes read all users in the order of the uid.
    const [source, values] =
      tenantId === undefined
        ? ['users', []]
        : [
            `users /*! FORCE INDEX (ix_users_tenant_id_status) */ WHERE tenant_id = ? AND status = ${userStatus.enabled}`,
            [tenantId],
          ];
    const rows = await this.database.rows<{ status: number; totp: unknown; passkeys: unknown }>(
      `SELECT s.status, s.topt_secret IS NOT NULL AS totp, ${this.factors.quickCount('passkeys', 's')} AS passkeys
       FROM (SELECT uid, status, topt_secret, own_factors FROM ${source} ORDER BY uid LIMIT ${sampledUsers}) s`,
      values,
    );
    const enabled = rows.filter(({ status }) => Number(status) === userStatus.enabled);
    const has = enabled.map(({ totp, passkeys }) => [Number(totp) === 1, Number(passkeys) > 0] as const);
    return {
      users: has.length,
      authenticator: has.filter(([totp]) => totp).length,
      passkey: has.filter(([, passkey]) => passkey).length,
      neither: has.filter(([totp, passkey]) => !totp && !passkey).length,
      sampled: rows.length === sampledUsers,
    };
  }
}
