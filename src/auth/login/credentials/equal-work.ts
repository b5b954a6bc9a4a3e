import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { AppConfig } from '../../../platform/config/app-config';
import { PasswordHasher } from '../../../hashing/password-hasher';
import type { LoginCommand } from '../login-command';

/**
 * `HIDE_ACCOUNT_EXISTENCE`: a login that would be refused without a hash computes one of the configured cost. Its time
 * then does not tell whether the name exists, is locked or belongs to the directory (docs/spec/attacks.md#w12, ADR
 * 0010). Without the setting no work is added.
 */
@Injectable()
export class EqualWork {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly config: AppConfig,
  ) {}

  /** @throws HashQueueFull when the hash would be refused now, for known and unknown names alike */
  assertCapacity(client: ClientInfo): void {
    if (this.config.hideAccountExistence) this.hasher.assertCapacity(client);
  }

  /** For a refusal that is decided before a credential is checked. */
  async spend({ password }: LoginCommand, client: ClientInfo): Promise<void> {
    if (this.config.hideAccountExistence) await this.hasher.matches(password, null, client);
  }

  /**
   * A directory check computes no hash, so one runs in parallel, and the answer waits for both. The time of the
   * directory stays invisible while it is the faster one. Logins with the right password wait as well: one that is
   * refused because the account was locked meanwhile must take as long as a wrong one.
   */
  async beside<T>(command: LoginCommand, client: ClientInfo, check: () => Promise<T>): Promise<T> {
    if (command.provider === 'password') return check();
    // allSettled, because no work may go on after the answer is sent.
    const [work, result] = await Promise.allSettled([this.spend(command, client), check()]);
    if (work.status === 'rejected') throw work.reason;
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }
}
