import { createChallenge, verifySolution, type Challenge, type Payload } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { Clock } from '../../shared/clock';
import type { Random } from '../../shared/random';
import type { KeyRing } from '../../platform/crypto/key-ring';
import { isRecord } from './is-record';

const lifetimeSeconds = 300;

/**
 * The client tries counters from 0 until the key matches: 1000 derivations of 2000 rounds on average, at most twice that.
 * The server derives one key to make a challenge and none to check a solution (ADR 0006 says what was measured).
 */
const algorithm = 'PBKDF2/SHA-256';
const cost = 2000;
const largestCounter = 2000;

export interface Solved {
  /** The same for every spelling of the payload, so that one challenge opens one door. */
  readonly identity: string;
  readonly expires: Date;
}

/** The self-hosted proof of work: issues challenges of the stock widget (altcha 3) and checks their solutions (§1.2). */
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

  /** What the widget puts into its form field: base64 of `{challenge, solution}`. Undefined: some other token. */
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

  /** Undefined when the challenge is not ours, has expired, or is not solved. Every key still configured counts. */
  async check({ challenge, solution }: Payload): Promise<Solved | undefined> {
    const { signature, parameters } = challenge as { signature: unknown; parameters: unknown };
    if (typeof signature !== 'string' || !isRecord(parameters)) return undefined;
    const { expiresAt } = parameters;
    // The library looks at the system's clock; ours decides, and the signature covers the field.
    if (typeof expiresAt !== 'number' || expiresAt <= this.clock.epochSeconds()) return undefined;
    for (const secrets of this.secrets()) {
      const { verified, invalidSignature } = await verifySolution({ challenge, solution, deriveKey, ...secrets });
      if (verified) return { identity: `altcha:${signature}`, expires: new Date(expiresAt * 1000) };
      if (invalidSignature !== true) return undefined;
    }
    return undefined;
  }

  /** One pair for each key in force, the writing one first: for the challenge, and for the key that solves it. */
  private secrets(): { hmacSignatureSecret: string; hmacKeySignatureSecret: string }[] {
    const solutionSecrets = this.keys.secrets('captcha-solution');
    return this.keys.secrets('captcha-challenge').map((secret, index) => ({
      hmacSignatureSecret: secret,
      hmacKeySignatureSecret: solutionSecrets[index]!,
    }));
  }
}
