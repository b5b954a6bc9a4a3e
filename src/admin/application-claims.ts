import { Injectable } from '@nestjs/common';
import { ApplicationProblem } from '../applications/application-rules';
import { type ClaimsPreview, previewClaims } from '../applications/application-preview';
import { OpenIdSettings } from '../applications/openid-settings';
import { GroupMembers } from '../groups/group-members';
import type { CurrentSession } from '../sessions/current-session';
import { LiveSessions } from '../sessions/live-sessions';
import { DomainError } from '../shared/errors/domain-error';
import { accessTokenRevoked } from '../shared/errors/error-catalogue';
import { UsersRepository } from '../users/users.repository';
import { ApplicationAdministration } from './application-administration';

/** What an application would learn about the administrator who asks. Nobody is shown the claims of another user. */
@Injectable()
export class ApplicationClaims {
  constructor(
    private readonly applications: ApplicationAdministration,
    private readonly sessions: LiveSessions,
    private readonly users: UsersRepository,
    private readonly members: GroupMembers,
    private readonly settings: OpenIdSettings,
  ) {}

  /** @throws EntryNotFound @throws ApplicationProblem */
  async of(id: string, { user: { uid }, payload: { sid }, credentialVersion }: CurrentSession): Promise<ClaimsPreview> {
    const application = await this.applications.get(id);
    if (application.type === 'service') throw new ApplicationProblem({ type: ['type is service, which has no users'] });
    const live = await this.sessions.find(sid, { uid, credentialVersion });
    const user = await this.users.findByUid(uid);
    if (live === undefined || user === null) throw new DomainError(accessTokenRevoked);
    return previewClaims(
      application,
      { user, sid, live, groups: await this.members.groupsOf(user) },
      this.settings.openId?.issuer,
    );
  }
}
