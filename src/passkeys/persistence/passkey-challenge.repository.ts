import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { KeyRing, sha256Hex } from '../../platform/crypto/key-ring';
import { Database } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { PasskeyChallenge } from './passkey-challenge.entity';

/** How long a challenge lives (docs/spec/extensions.md#b). */
export const challengeSeconds = 300;

const nonceBytes = 16;
const timeBytes = 6;
const macBytes = 32;
const purpose = 'passkey-challenge';

/** A challenge that this service has issued for the subject, and that has not expired. */
export interface IssuedChallenge {
  readonly text: string;
  readonly expires: Date;
}

/**
 * The challenges of WebAuthn. A challenge is a random number, the time of its expiry and a MAC over both and the subject:
 * what it was issued for. Nothing is stored when it is issued, so anonymous requests cannot fill a table. A row of
 * `passkey_challenges` is written only when it is used (ADR 0024).
 */
@Injectable()
export class PasskeyChallenges {
  private readonly rows: EntityRows<PasskeyChallenge>;

  constructor(
    @InjectRepository(PasskeyChallenge) rows: Repository<PasskeyChallenge>,
    private readonly database: Database,
    private readonly keys: KeyRing,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** @returns base64url */
  issue(subject: string): string {
    const expires = Buffer.alloc(timeBytes);
    expires.writeUIntBE(this.clock.secondsFromNow(challengeSeconds).getTime(), 0, timeBytes);
    const content = Buffer.concat([this.random.bytes(nonceBytes), expires]);
    const mac = Buffer.from(this.keys.mac(purpose, signed(subject, content)), 'hex');
    return Buffer.concat([content, mac]).toString('base64url');
  }

  /**
   * @param response the response of an authenticator, as the client sent it
   * @returns the challenge that the response answers; undefined when it was not issued for the subject, or has expired
   */
  answeredBy(response: object, subject: string): IssuedChallenge | undefined {
    const text = challengeIn(response);
    if (text === undefined) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    // Another spelling of the same bytes would be another row of a used challenge.
    if (bytes.length !== nonceBytes + timeBytes + macBytes || bytes.toString('base64url') !== text) return undefined;
    const content = bytes.subarray(0, -macBytes);
    const mac = bytes.subarray(-macBytes).toString('hex');
    if (!this.keys.macMatches(purpose, signed(subject, content), mac)) return undefined;
    const expires = new Date(content.readUIntBE(nonceBytes, timeBytes));
    return expires < this.clock.now() ? undefined : { text, expires };
  }

  /**
   * Uses the challenge.
   * Race: parallel responses to one challenge, on any replica. The first INSERT takes the primary key and wins. The
   * others meet the duplicate key and are refused, also when their signature is good.
   */
  spend({ text, expires }: IssuedChallenge): Promise<boolean> {
    return this.rows.added(this.database, { challengeHash: sha256Hex(text), expires });
  }
}

function signed(subject: string, content: Buffer): string {
  return `${subject}.${content.toString('base64url')}`;
}

/** The `challenge` of the client data (WebAuthn level 3 §5.8.1). Undefined when there is none. */
function challengeIn(response: object): string | undefined {
  const { response: inner } = response as { response?: { clientDataJSON?: unknown } | null };
  if (typeof inner?.clientDataJSON !== 'string') return undefined;
  try {
    const data = JSON.parse(Buffer.from(inner.clientDataJSON, 'base64url').toString('utf8')) as { challenge?: unknown };
    return typeof data.challenge === 'string' ? data.challenge : undefined;
  } catch {
    return undefined;
  }
}
