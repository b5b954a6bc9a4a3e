import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../../audit/audit-trail';
import { Database } from '../../platform/database/database';
import type { ClientInfo } from '../../shared/client-info';
import { OidcRecords } from '../persistence/oidc-record.repository';

/**
 * A code or refresh token that is used a second time may be in the hands of a thief, so its grant ends (RFC 9700 §4.14), and
 * the audit shows it.
 */
@Injectable()
export class ReusedGrants {
  constructor(
    private readonly records: OidcRecords,
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Race: the package ends a grant once for each kind of token, all at the same time, and another replica may do it as well. The
   * first DELETE of the grant wins and writes the row; the others find no grant, and do nothing.
   * @param grantType that of the request, one of those that the provider offers
   */
  async end(grantId: string, grantType: string, client: ClientInfo | undefined): Promise<void> {
    const grant = await this.records.find('Grant', grantId);
    if (grant === undefined) return;
    const { userId, applicationId: application = null } = grant;
    await this.database.transaction(async (tx) => {
      if (!(await this.records.endGrantOf(tx, grant))) return;
      const detail = { application, grant_type: grantType };
      await this.audit.record(tx, 'APPLICATION_TOKEN_REUSED', { userId: userId ?? undefined, client, detail });
    });
  }
}
