import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { PrivacySettings } from '../../../users/account-settings';
import { PasswordHasher } from '../../../hashing/password-hasher';
import { Random } from '../../../shared/random';
import { UsersRepository } from '../../../users/users.repository';
import type { LoginCommand, TypedLogin } from '../login-command';

/**
 * `HIDE_ACCOUNT_EXISTENCE`: a login that would be refused without computing a hash computes one of the configured cost.
 * The duration of the login then does not reveal whether the name exists, is locked or belongs to the directory
 * (docs/spec/attacks.md#w12, ADR 0010). Without the setting, no work is added.
 */
@Injectable()
export class EqualWork {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly users: UsersRepository,
    private readonly random: Random,
    private readonly settings: PrivacySettings,
  ) {}

  /**
   * A check by the directory needs no capacity of the hash queue, unless a hash is computed beside it. With `auto` the kind
   * of account is not known yet, and a refusal must not depend on it: the login is treated as one that computes a hash.
   * @throws HashQueueFull when the hash would be refused now, for known and unknown names alike
   */
  assertCapacity({ provider }: TypedLogin, client: ClientInfo): void {
    if (provider !== 'ldap' || this.settings.hideAccountExistence) this.hasher.assertCapacity(client);
  }

  /** Computes a hash for a login that is refused before its credential is checked. */
  async spend({ password }: LoginCommand, client: ClientInfo): Promise<void> {
    if (this.settings.hideAccountExistence) await this.hasher.matches(password, null, client);
  }

  /**
   * Runs the UPDATE of a wrong password with a random uid, so that no row changes. A refusal that counts nothing then
   * causes as many statements as one that counts.
   */
  async countForNobody(): Promise<void> {
    if (this.settings.hideAccountExistence) await this.users.recordLoginFailure(this.random.uuid());
  }

  /**
   * A directory check computes no hash, so a hash is computed in parallel, and the answer waits for both. The duration
   * of the directory check stays hidden as long as the hash takes longer. A login with the right password waits as
   * well: if the account was locked meanwhile, its refusal must take as long as that of a wrong password.
   */
  async beside<T>(command: LoginCommand, client: ClientInfo, check: () => Promise<T>): Promise<T> {
    if (command.provider === 'password') return check();
    // allSettled, because neither the hash nor the check may go on after the answer is sent.
    const [work, result] = await Promise.allSettled([this.spend(command, client), check()]);
    if (work.status === 'rejected') throw work.reason;
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }
}
