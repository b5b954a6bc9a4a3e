import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import type { Transaction } from '../../platform/database/database';
import { SessionConfirmation } from '../../sessions/session-confirmation';
import type { PendingLogin } from '../../sessions/pending-login.repository';
import { type EnrollingSession, SessionOpener, type TokenPair } from '../../sessions/session-opener';
import { SignInOrigins } from '../../sessions/sign-in-origins';
import { TrustedDevices } from '../../sessions/trusted-devices';
import type { User } from '../../users/user.entity';
import type { CodeType } from '../codes/submitted-code';

/** The session of an accepted code. */
export interface VerifiedLogin extends TokenPair {
  /** Null unless the client asked for a trusted device and the service trusts devices. */
  readonly deviceToken: string | null;
}

interface AcceptedCode {
  readonly mfa: CodeType;
  readonly trustDevice: boolean;
  /** Its `sid` is the session that the code confirms. Null: the code opens a new one. */
  readonly pending: Pick<PendingLogin, 'id' | 'sid'>;
}

/** Opens or confirms sessions and trusts devices, in the transaction that accepts a code and holds the row of the user. */
@Injectable()
export class VerifiedLogins {
  constructor(
    private readonly sessions: SessionOpener,
    private readonly confirmation: SessionConfirmation,
    private readonly devices: TrustedDevices,
    private readonly origins: SignInOrigins,
  ) {}

  /**
   * @returns undefined when the session that the code confirms has ended: the code is then refused
   * @throws DomainError LOGIN_401013 when the provider at which the user signs in was disabled meanwhile
   */
  async openIn(
    tx: Transaction,
    user: User,
    client: ClientInfo,
    { mfa, trustDevice, pending: { id, sid } }: AcceptedCode,
  ): Promise<VerifiedLogin | undefined> {
    if (sid !== null) await this.origins.assertEnabled(tx, user);
    const deviceToken = trustDevice ? await this.devices.trust(tx, user, client) : null;
    const pair =
      sid === null
        ? await this.sessions.openIn(tx, user, client, mfa, await this.origins.ofPending(tx, user, id))
        : await this.confirmation.confirmIn(tx, user, { sid, mfa }, client);
    return pair && { ...pair, deviceToken };
  }

  /**
   * The code is the first one of a new authenticator, which ends the devices that the former factor trusted.
   * @param enrolling the session that has enrolled it, with the factors and the last credential check of the new session
   */
  async openWithNewFactor(
    tx: Transaction,
    user: User,
    enrolling: EnrollingSession,
    { client, trustDevice }: Pick<AcceptedCode, 'trustDevice'> & { readonly client: ClientInfo },
  ): Promise<VerifiedLogin> {
    await this.devices.endAll(tx, user.uid);
    const deviceToken = trustDevice ? await this.devices.trust(tx, user, client) : null;
    return { ...(await this.sessions.openBeside(tx, user, enrolling, client)), deviceToken };
  }
}
