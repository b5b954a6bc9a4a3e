import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import type { ClientInfo } from '../shared/client-info';
import type { User } from '../users/user.entity';

/** The sign-in at an identity provider that a session comes from (docs/spec/extensions.md#k). */
export interface SignInOrigin {
  /** The provider has proven a second factor, and is trusted in this. */
  readonly mfa: boolean;
  /** When the provider asked the person last. */
  readonly askedAt: Date;
  /** What the provider says of the person is written into the account, in the transaction that opens the session. */
  follow(tx: Transaction, user: User, client: ClientInfo): Promise<void>;
  /** Runs in the transaction that opens the session. */
  began(tx: Transaction, sid: string): Promise<void>;
}

/** What knows where a session comes from. */
export interface OriginKeeper {
  /**
   * @param pendingId the pending login that the sign-in has led to
   * @throws DomainError LOGIN_401013 when no sign-in at the provider of the user has led to it
   */
  ofPending(tx: Transaction, user: User, pendingId: string): Promise<SignInOrigin>;
  /** @throws DomainError LOGIN_401013 when the provider of the user signs nobody in any more */
  assertEnabled(tx: Transaction, user: User): Promise<void>;
  /** The session `to` comes from where `from` comes from. */
  share(tx: Transaction, from: string, to: string): Promise<void>;
}

/** The port of sign-ins elsewhere: `identity-providers` registers with it. For users who sign in here it sends no statement. */
@Injectable()
export class SignInOrigins {
  private keeper: OriginKeeper | undefined;

  /** Called in the constructor of the keeper, so its module must be part of every program that opens sessions. */
  register(keeper: OriginKeeper): void {
    this.keeper = keeper;
  }

  async ofPending(tx: Transaction, user: User, pendingId: string): Promise<SignInOrigin | undefined> {
    return user.provider === 'oidc' ? this.keeper?.ofPending(tx, user, pendingId) : undefined;
  }

  /**
   * For a new sign-in that confirms a session: the person may need minutes for the code of this service.
   * @throws DomainError LOGIN_401013
   */
  async assertEnabled(tx: Transaction, user: User): Promise<void> {
    if (user.provider === 'oidc') await this.keeper?.assertEnabled(tx, user);
  }

  async share(tx: Transaction, user: User, from: string, to: string): Promise<void> {
    if (user.provider === 'oidc') await this.keeper?.share(tx, from, to);
  }
}
