import { AuditTrail } from '../../src/audit/audit-trail';
import { TotpReset } from '../../src/mfa/totp-reset';
import { type Invitation, UserInvitations } from '../../src/password-reset/user-invitations';
import { Cooldowns } from '../../src/platform/database/cooldown.repository';
import type { Language } from '../../src/shared/languages';
import { SecondFactor } from '../../src/users/second-factor';
import type { User } from '../../src/users/user.entity';
import type { TestService } from './app';

/** What `user invite` does. */
export function invite({ app }: Pick<TestService, 'app'>, user: User, language: Language = 'en'): Promise<Invitation> {
  return app.get(Cooldowns).serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
    await app.get(AuditTrail).record(tx, 'USER_INVITED', { userId: user.uid });
    return app.get(UserInvitations).invite(tx, user, language);
  });
}

/** What `user reset-totp` does. */
export function resetSecondFactor({ app, database }: Pick<TestService, 'app' | 'database'>, user: User) {
  const { uid } = user;
  return database.transaction(async (tx) => {
    await app.get(SecondFactor).lock(tx, uid);
    const detail = await app.get(TotpReset).reset(tx, user);
    await app.get(AuditTrail).record(tx, 'TOTP_RESET', { userId: uid, detail });
  });
}
