import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { passkeyRejected } from '../shared/errors/error-catalogue';
import { Random } from '../shared/random';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { type IssuedChallenge, PasskeyChallenges } from './persistence/passkey-challenge.repository';
import type { Passkey } from './persistence/passkey.entity';
import { PasskeyRows } from './persistence/passkey.repository';
import { type Assertion, type RequestOptions, WebAuthn } from './webauthn/webauthn';

export interface PasskeyChallenge {
  readonly challengeId: string;
  readonly options: RequestOptions;
}

export interface PasskeyLogin {
  readonly challengeId: string;
  /** The JSON of the client: every field of it can be missing, malformed or forged. */
  readonly response: object;
}

/** A passkey that a response names, for a live challenge. Nothing is proved yet. */
export interface PresentedPasskey {
  readonly userId: string;
  readonly passkey: Passkey;
  readonly challenge: IssuedChallenge;
  readonly response: object;
}

/** Challenges and assertions of a login (docs/spec/extensions.md#b). Every refusal is PASSKEY_401001. */
@Injectable()
export class PasskeyAssertions {
  constructor(
    private readonly webAuthn: WebAuthn,
    private readonly challenges: PasskeyChallenges,
    private readonly rows: PasskeyRows,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly random: Random,
  ) {}

  /** Writes nothing, because anybody may ask. */
  newChallenge(): PasskeyChallenge {
    const challengeId = this.random.uuid();
    return { challengeId, options: this.webAuthn.requestOptions(this.challenges.issue(subjectOf(challengeId))) };
  }

  /**
   * Writes nothing, so that requests which name no passkey cannot fill a table. The id of a credential is random: only
   * its owner and this service know it.
   * @throws DomainError PASSKEY_401001 for a challenge that was not issued under this id or has expired, for an unknown
   *   passkey, and when `userHandle` does not name its owner
   */
  async assertKnown({ challengeId, response }: PasskeyLogin): Promise<PresentedPasskey> {
    const challenge = this.challenges.answeredBy(response, subjectOf(challengeId));
    const { id, response: inner } = response as { id?: unknown; response?: { userHandle?: unknown } | null };
    if (challenge === undefined || typeof id !== 'string') throw new DomainError(passkeyRejected);
    const passkey = await this.rows.findByCredential(id);
    if (passkey === null || inner?.userHandle !== handleOf(passkey.userId)) throw new DomainError(passkeyRejected);
    return { userId: passkey.userId, passkey, challenge, response };
  }

  /**
   * Uses the challenge, whatever the result is, and verifies the signature.
   * @throws DomainError PASSKEY_401001
   */
  async assertSigned(presented: PresentedPasskey, client: ClientInfo): Promise<void> {
    const { passkey, challenge, response } = presented;
    if (!(await this.challenges.spend(challenge))) throw new DomainError(passkeyRejected);
    const assertion = await this.webAuthn.verifyAssertion(response, challenge.text, passkey);
    if (assertion === undefined) throw new DomainError(passkeyRejected);
    // Whether a credential can be copied never changes (WebAuthn level 3 §7.2).
    if (assertion.backupEligible !== passkey.backupEligible) throw new DomainError(passkeyRejected);
    if (!(await this.rows.recordUse(passkey, assertion))) await this.refuseCounter(passkey, assertion, client);
  }

  /** The counter did not grow: there is a copy of the authenticator. A passkey that was removed meanwhile has no counter. */
  private async refuseCounter({ id, userId }: Passkey, { counter }: Assertion, client: ClientInfo): Promise<never> {
    const now = await this.rows.find(userId, id);
    if (now !== null) {
      const detail = { passkey: id, stored: now.counter, presented: counter };
      await this.audit.record(this.database, 'PASSKEY_COUNTER_REFUSED', { userId, client, detail });
    }
    throw new DomainError(passkeyRejected);
  }
}

function subjectOf(challengeId: string): string {
  return `login:${challengeId}`;
}

/** The user handle that the creation options name. */
function handleOf(userId: string): string {
  return Buffer.from(userId, 'utf8').toString('base64url');
}
