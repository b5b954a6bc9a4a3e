import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { passkeyRejected } from '../../shared/errors/error-catalogue';
import { PasskeyAssertions, type PasskeyLogin } from '../../passkeys/passkey-assertions';
import { PasskeySettings } from '../../sessions/passkey-settings';
import { LoginLock } from '../../users/login-lock';
import type { User } from '../../users/user.entity';
import { DirectoryUsers } from '../login/passkey/directory-users';

/** A passkey of the user of a session, checked like that of a login (ADR 0024). */
@Injectable()
export class OwnPasskeyProof {
  constructor(
    private readonly settings: PasskeySettings,
    private readonly assertions: PasskeyAssertions,
    private readonly directoryUsers: DirectoryUsers,
    private readonly lock: LoginLock,
  ) {}

  /**
   * @returns the user as the directory has it now
   * @throws DomainError PASSKEY_401001, also for a good passkey of somebody else; LOGIN_401004, 401011, 401012, 401008, 503001
   */
  async assertGood(passkey: PasskeyLogin, user: User, client: ClientInfo): Promise<User> {
    if (this.settings.passkeys === undefined) throw new DomainError(passkeyRejected);
    const presented = await this.assertions.assertKnown(passkey);
    if (presented.userId !== user.uid) throw new DomainError(passkeyRejected);
    await this.assertions.assertSigned(presented, client);
    this.lock.assertOpen(user);
    const proof = await this.directoryUsers.assertStanding(user);
    const entered = await this.lock.recordSuccess(user, false);
    return this.directoryUsers.follow({ ...proof, user: entered }, client);
  }
}
