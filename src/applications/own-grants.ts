import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { notFoundForCaller } from '../shared/errors/error-catalogue';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import type { CurrentSession } from '../sessions/current-session';
import type { Application } from './application.entity';
import { Applications } from './applications.repository';
import { OidcRecords } from './persistence/oidc-record.repository';

/** What the user has allowed to an application of somebody else. */
export interface OwnGrant {
  readonly id: string;
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
}

/** What users have allowed to third parties, and its end (docs/spec/extensions.md#j). */
@Injectable()
export class OwnGrants {
  constructor(
    private readonly records: OidcRecords,
    private readonly applications: Applications,
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  /** The newest first. A grant from before a password change has ended with the former password. */
  async list({ user, credentialVersion }: CurrentSession): Promise<OwnGrant[]> {
    const [grants, applications] = [
      await this.records.grantsOf(user.uid, credentialVersion),
      new Map((await this.applications.list()).map((one) => [one.id, one])),
    ];
    return grants.flatMap(({ idHash, applicationId, payload, createdAt }) => {
      const application = applications.get(applicationId ?? '');
      // An application of the company itself asks for no consent: there is nothing to take back.
      if (application === undefined || application.firstParty) return [];
      return [{ id: idHash, application, scopes: scopesOf(payload), createdAt }];
    });
  }

  /**
   * Ends the grant with its codes and tokens. The applications of the session keep the session.
   * Races with the use of one of its tokens: whatever is inserted meanwhile belongs to a grant without a row, and is dead.
   * @throws DomainError USER_404001 when the user has no such grant
   */
  async end(session: CurrentSession, id: string, client: ClientInfo): Promise<void> {
    const grant = (await this.list(session)).find((one) => one.id === id);
    const userId = session.user.uid;
    await this.database.transaction(async (tx) => {
      const ended = grant !== undefined && (await this.records.endGrantOf(tx, userId, id));
      if (!ended) throw new DomainError(notFoundForCaller);
      await this.audit.record(tx, 'GRANT_REVOKED', { userId, client, detail: { application: grant.application.id } });
    });
  }
}

/** The payload of the package: the scopes of OpenID Connect, and those of each resource. */
function scopesOf(payload: Readonly<Record<string, unknown>>): string[] {
  const { openid, resources } = payload as { openid?: { scope?: string }; resources?: Record<string, string> };
  const texts = [openid?.scope ?? '', ...Object.values(resources ?? {})];
  return [...new Set(texts.join(' ').split(' '))].filter((scope) => scope !== '');
}
