import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { AppConfig } from '../../../platform/config/app-config';
import { PasswordHasher } from '../../../hashing/password-hasher';
import type { LoginCommand } from './credential-verifier';

/**
 * `HIDE_ACCOUNT_EXISTENCE`: a login that is refused without a hash gets one of the configured cost, so that its time does
 * not tell whether the name exists, is locked or belongs to the directory (W10, ADR 0010). Without the setting no work is
 * added.
 */
@Injectable()
export class EqualWork {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly config: AppConfig,
  ) {}

  /** @throws HashQueueFull where the hash would be refused now: for an unknown name as for a known one */
  assertCapacity(client: ClientInfo): void {
    if (this.config.hideAccountExistence) this.hasher.assertCapacity(client);
  }

  /** For a refusal that was decided before a credential was judged. */
  async spend({ password }: LoginCommand, client: ClientInfo): Promise<void> {
    if (this.config.hideAccountExistence) await this.hasher.matches(password, null, client);
  }

  /**
   * The judgement of a directory takes no hash, so one runs beside it and the answer waits for both: as long as the
   * directory is the faster one, its time cannot be seen. Right credentials wait too, because a guess that is right and
   * comes after the lock is a refusal as well.
   */
  async beside<T>(command: LoginCommand, client: ClientInfo, judge: () => Promise<T>): Promise<T> {
    if (command.provider === 'password') return judge();
    // Both to their end, whatever becomes of the other: nothing goes on behind an answer.
    const [work, judgement] = await Promise.allSettled([this.spend(command, client), judge()]);
    if (work.status === 'rejected') throw work.reason;
    if (judgement.status === 'rejected') throw judgement.reason;
    return judgement.value;
  }
}
