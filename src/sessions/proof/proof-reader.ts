import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { RecentKeys } from '../../shared/recent-keys';
import { type AskedRequest, isUrlOf } from './asked-request';
import { type ProofKey, proofKeyOf } from './proof-key';
import { ProofRefusals } from '../proof-refusals';

/** A proof with a good signature and good claims. Whether it was used before is not known yet. */
export interface Proof {
  readonly thumbprint: string;
  /** Identifies the proof: a hash of its key and its `jti`. */
  readonly id: string;
  /** After this time every replica refuses it as too old, also one whose clock is slow. */
  readonly forgottenAfter: Date;
  /** The hash of the access token that it is for. Undefined when it names none. */
  readonly ath: string | undefined;
}

/** Seconds that a proof may be older or younger than the clock of this service. */
const toleranceSeconds = 60;
/** A proof is accepted for twice the tolerance. The rest is for replicas whose clocks differ. */
const rememberedSeconds = 3 * toleranceSeconds;
const longestProof = 4096;
const longestJti = 256;
const dayMs = 86_400_000;

/**
 * Headers of recent proofs, by their text, with their key. Making a key costs as much as a signature. A client sends the same
 * header with each proof. At most 4 MB.
 */
const rememberedHeaders = 4096;

const proofForm = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** Verifies what a proof says by itself (RFC 9449 §4.3), without any statement. */
@Injectable()
export class ProofReader {
  private readonly keys = new RecentKeys<ProofKey>(rememberedHeaders);

  constructor(
    private readonly clock: Clock,
    private readonly refusals: ProofRefusals,
  ) {}

  /**
   * @param text the value of the header `DPoP`; of two headers Node makes one text, which is none
   * @throws ProofRejected AUTH_401011
   */
  read(text: string, asked: AskedRequest): Proof {
    const [, header = '', payload = '', signature = ''] =
      (text.length <= longestProof && proofForm.exec(text)) || this.refuse('malformed');
    const key = this.keys.get(header) ?? proofKeyOf(objectIn(header) ?? {}) ?? this.refuse('malformed');
    const claims = objectIn(payload) ?? this.refuse('malformed');
    if (!key.isSignatureOf(`${header}.${payload}`, Buffer.from(signature, 'base64url'))) this.refuse('signature');
    // Only after a good signature, so that nobody fills the memory for nothing.
    if (this.keys.get(header) === undefined) this.keys.set(header, key, this.clock.now().getTime(), dayMs);
    return this.judged(claims, key, asked);
  }

  private judged(claims: Readonly<Record<string, unknown>>, { thumbprint }: ProofKey, asked: AskedRequest): Proof {
    const { jti, htm, htu, iat, ath } = claims;
    if (typeof jti !== 'string' || jti === '' || jti.length > longestJti) this.refuse('malformed');
    if (typeof iat !== 'number' || typeof htu !== 'string') this.refuse('malformed');
    if (ath !== undefined && typeof ath !== 'string') this.refuse('malformed');
    if (htm !== asked.method) this.refuse('method');
    if (!isUrlOf(htu, asked)) this.refuse('url');
    if (!(Math.abs(this.clock.epochSeconds() - iat) <= toleranceSeconds)) this.refuse('time');
    return {
      thumbprint,
      id: hash('sha256', `${thumbprint}.${jti}`, 'hex').slice(0, 32),
      forgottenAfter: new Date((Math.ceil(iat) + rememberedSeconds) * 1000),
      ath,
    };
  }

  private refuse(problem: Parameters<ProofRefusals['of']>[0]): never {
    throw this.refusals.of(problem);
  }
}

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
