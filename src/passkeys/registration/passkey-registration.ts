import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { youngSessionRequired, notPermitted, passkeyNotRegistered } from '../../shared/errors/error-catalogue';
import { Random } from '../../shared/random';
import { Database } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { LiveSessions } from '../../sessions/live-sessions';
import { UserSessions } from '../../sessions/user-sessions';
import { type IssuedChallenge, PasskeyChallenges } from '../persistence/passkey-challenge.repository';
import { PasskeyNotices } from './passkey-notices';
import type { Passkey } from '../persistence/passkey.entity';
import { newPasskey, PasskeyRows } from '../persistence/passkey.repository';
import { type CreationOptions, type NewCredential, WebAuthn } from '../webauthn/webauthn';

/** How many passkeys a user may have (docs/spec/extensions.md#b). */
export const maxPasskeys = 20;

export interface RegisterPasskey {
  readonly name: string;
  /** The JSON of the client: every field of it can be missing, malformed or forged. */
  readonly response: object;
}

/** Adds passkeys to the account of the session (docs/spec/extensions.md#b). */
@Injectable()
export class PasskeyRegistration {
  constructor(
    private readonly webAuthn: WebAuthn,
    private readonly challenges: PasskeyChallenges,
    private readonly rows: PasskeyRows,
    private readonly notices: PasskeyNotices,
    private readonly sessions: UserSessions,
    private readonly liveSessions: LiveSessions,
    private readonly database: Database,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  /**
   * A passkey would not sign in a user of an identity provider (ADR 0036), so none is made. Without the challenge, which belongs to
   * this session, nothing can be registered, and a move of the user to a provider ends the session.
   * @throws DomainError AUTH_403001; PASSKEY_400001 when the user has as many passkeys as allowed, before the authenticator is asked
   */
  async options(session: CurrentSession): Promise<CreationOptions> {
    if (session.account?.provider === 'oidc') throw new DomainError(notPermitted);
    const passkeys = await this.rows.list(session.user.uid);
    if (passkeys.length >= maxPasskeys) throw new DomainError(passkeyNotRegistered);
    return this.webAuthn.creationOptions({
      user: session.user,
      challenge: this.challenges.issue(subjectOf(session)),
      existing: passkeys.map(({ credentialId, transports }) => ({
        credentialId,
        transports: transports === '' ? [] : transports.split(' '),
      })),
    });
  }

  /**
   * @throws DomainError PASSKEY_400001; AUTH_401004 when the session has ended since its token was checked; AUTH_403002
   *   when the account got a second factor since the challenge was issued, and this session has to use it first
   */
  async register({ name, response }: RegisterPasskey, session: CurrentSession, client: ClientInfo): Promise<Passkey> {
    const challenge = await this.assertChallenge(response, session);
    const credential = await this.webAuthn.verifyRegistration(response, challenge.text);
    if (credential === undefined) throw new DomainError(passkeyNotRegistered);
    return this.store(credential, name, session, client);
  }

  /** The challenge was issued to this session, and is used by this request. */
  private async assertChallenge(response: object, session: CurrentSession): Promise<IssuedChallenge> {
    const challenge = this.challenges.answeredBy(response, subjectOf(session));
    if (challenge === undefined || !(await this.challenges.spend(challenge))) {
      throw new DomainError(passkeyNotRegistered);
    }
    return challenge;
  }

  /**
   * Races with the end of the session and with other registrations of the user, on any replica. The row of the user is
   * locked first, so registrations run one after the other, and the twenty-first one sees twenty passkeys. If the
   * session ends first, nothing is added.
   */
  private store(
    credential: NewCredential,
    name: string,
    session: CurrentSession,
    client: ClientInfo,
  ): Promise<Passkey> {
    const { user } = session;
    return this.database.transaction(async (tx) => {
      await this.sessions.hold(tx, session);
      if (await this.liveSessions.mustProveFactor(user, session.payload.amr, tx))
        throw new DomainError(youngSessionRequired);
      if ((await this.rows.count(tx, user.uid)) >= maxPasskeys) throw new DomainError(passkeyNotRegistered);
      const place = { id: this.random.uuid(), userId: user.uid, name, createdAt: this.clock.now() };
      const passkey = newPasskey(credential, place);
      if (!(await this.rows.insert(tx, passkey))) throw new DomainError(passkeyNotRegistered);
      await this.notices.added(tx, user, passkey, client);
      return passkey;
    });
  }
}

/** A challenge belongs to one session: neither another user nor a later session can answer it. */
function subjectOf({ payload }: CurrentSession): string {
  return `register:${payload.sub}:${payload.sid}`;
}
