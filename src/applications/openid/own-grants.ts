import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../../audit/audit-trail';
import { Database } from '../../platform/database/database';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller } from '../../shared/errors/error-catalogue';
import type { CurrentSession } from '../../sessions/current-session';
import type { Application } from '../application.entity';
import { Applications } from '../applications.repository';
import { type FoundRecord, OidcRecords } from '../persistence/oidc-record.repository';

export interface OwnGrant {
  readonly id: string;
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
}

/**
 * The grants of one user. Those of the company's own applications are no decision of the user, who was not asked, so they
 * are not shown.
 */
@Injectable()
export class OwnGrants {
  constructor(
    private readonly records: OidcRecords,
    private readonly applications: Applications,
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  async list({ user, credentialVersion }: CurrentSession): Promise<OwnGrant[]> {
    const [grants, applications] = await Promise.all([
      this.records.grantsOf(user.uid, credentialVersion),
      this.applications.list(),
    ]);
    const thirdParties = new Map(applications.filter((one) => !one.firstParty).map((one) => [one.id, one]));
    return grants.flatMap((grant) => {
      const application = thirdParties.get(grant.applicationId ?? '');
      return application === undefined
        ? []
        : [{ id: grant.idHash, application, scopes: scopesOf(grant), createdAt: grant.createdAt }];
    });
  }

  /** Ends the grant and every token of it, in all sessions. @throws DomainError USER_404001 */
  async end({ user, credentialVersion }: CurrentSession, id: string, client: ClientInfo): Promise<void> {
    const grants = await this.records.grantsOf(user.uid, credentialVersion);
    const found = grants.find(({ idHash }) => idHash === id);
    await this.database.transaction(async (tx) => {
      const ended = found !== undefined && (await this.records.endGrantOf(tx, found));
      if (!ended) throw new DomainError(notFoundForCaller);
      const detail = { application: found.applicationId };
      await this.audit.record(tx, 'GRANT_REVOKED', { userId: user.uid, client, detail });
    });
  }
}

function scopesOf({ payload }: FoundRecord): string[] {
  const { openid, resources } = payload as {
    openid?: { scope?: string };
    resources?: Readonly<Record<string, string>>;
  };
  const texts = [openid?.scope ?? '', ...Object.values(resources ?? {})];
  return [...new Set(texts.join(' ').split(' '))].filter((scope) => scope !== '');
}
