import { Injectable } from '@nestjs/common';
import { createChallenge, verifySolution, type Challenge, type Payload } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { isRecord } from './is-record';

const lifetimeSeconds = 300;

/**
 * The client tries counters from 0 until the derived key matches: on average 1000 derivations of 2000 rounds, at most
 * 2000. The server derives one key to issue a challenge and none to check a solution. ADR 0006 has the measurements.
 */
const algorithm = 'PBKDF2/SHA-256';
const cost = 2000;
const largestCounter = 2000;

export interface Solved {
  /** The same for every encoding of the payload, so that a challenge can be spent only once. */
  readonly identity: string;
  readonly expires: Date;
}

/** The self-hosted proof of work: issues challenges for the stock widget (altcha 3) and checks their solutions. */
@Injectable()
export class AltchaChallenges {
  constructor(
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  async issue(): Promise<Challenge> {
    const [signing] = this.secrets();
    return createChallenge({
      algorithm,
      cost,
      counter: 1 + (this.random.bytes(4).readUInt32BE() % largestCounter),
      deriveKey,
      expiresAt: this.clock.epochSeconds() + lifetimeSeconds,
      ...signing,
    });
  }

  /** Parses the widget's form field: base64 of `{challenge, solution}`. Returns undefined for any other token. */
  read(token: string): Payload | undefined {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(token)) return undefined;
    try {
      const payload: unknown = JSON.parse(Buffer.from(token, 'base64').toString('utf8'));
      const known = isRecord(payload) && isRecord(payload.challenge) && isRecord(payload.solution);
      return known ? (payload as unknown as Payload) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns undefined when no configured key signed the challenge, or the challenge has expired or is not solved. */
  async check({ challenge, solution }: Payload): Promise<Solved | undefined> {
    const { signature, parameters } = challenge as { signature: unknown; parameters: unknown };
    if (typeof signature !== 'string' || !isRecord(parameters)) return undefined;
    const { expiresAt } = parameters;
    // The library compares with the system clock. The injected clock decides here; the signature covers the field.
    if (typeof expiresAt !== 'number' || expiresAt <= this.clock.epochSeconds()) return undefined;
    for (const secrets of this.secrets()) {
      const { verified, invalidSignature } = await verifySolution({ challenge, solution, deriveKey, ...secrets });
      if (verified) return { identity: `altcha:${signature}`, expires: new Date(expiresAt * 1000) };
      if (invalidSignature !== true) return undefined;
    }
    return undefined;
  }

  /** For each configured key, the signing key first: a secret for challenges and a secret for their solutions. */
  private secrets(): { hmacSignatureSecret: string; hmacKeySignatureSecret: string }[] {
    const solutionSecrets = this.keys.secrets('captcha-solution');
    return this.keys.secrets('captcha-challenge').map((secret, index) => ({
      hmacSignatureSecret: secret,
      hmacKeySignatureSecret: solutionSecrets[index]!,
    }));
  }
}
