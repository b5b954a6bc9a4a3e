import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HttpSettings } from '../platform/config/http-settings';
import type { ProofProblem } from '../shared/errors/proof-rejected';
import type { PresentedToken } from './current-session';
import { askedRequest, forwardedRequest } from './proof/asked-request';
import { type Proof, ProofReader } from './proof/proof-reader';
import { ProofRefusals } from './proof-refusals';
import { UsedProofs } from './proof/used-proofs';
import { TokenBindingSettings } from './token-binding-settings';
import type { TokenPayload } from './token-payload';

export type { Proof } from './proof/proof-reader';

/**
 * Tokens that are bound to a key of their client (RFC 9449, docs/spec/extensions.md#n). Every guard calls the methods in their
 * order: the proof alone, then the token that came with it, and then the use of the proof.
 */
@Injectable()
export class TokenBinding {
  private readonly on: boolean;
  /** Tokens that are bound to no key are refused. */
  readonly required: boolean;

  constructor(
    private readonly reader: ProofReader,
    private readonly used: UsedProofs,
    private readonly refusals: ProofRefusals,
    private readonly settings: TokenBindingSettings,
    private readonly http: HttpSettings,
  ) {
    this.on = settings.binding !== 'off';
    this.required = settings.binding === 'required';
  }

  /**
   * The proof of a request, before anything else of it is judged.
   * @returns undefined without a proof, and with `TOKEN_BINDING=off`
   * @throws ProofRejected AUTH_401011
   */
  proofOf(request: FastifyRequest): Proof | undefined {
    return this.read(request, askedRequest);
  }

  /** The proof of the request that a proxy asks about (docs/spec/extensions.md#verify). @throws ProofRejected AUTH_401011 */
  proofOfForwarded(request: FastifyRequest): Proof | undefined {
    return this.read(request, (...given) => forwardedRequest(...given, this.http.trustedProxies));
  }

  private read(request: FastifyRequest, asked: typeof askedRequest): Proof | undefined {
    const { dpop } = request.headers;
    if (dpop === undefined || !this.on) return undefined;
    const forRequest = asked(request, this.settings) ?? this.refuse('url');
    return this.reader.read(String(dpop), forRequest);
  }

  /** For a request for tokens that presents none. @throws ProofRejected AUTH_401011 with `required` */
  assertProven(proof: Proof | undefined): void {
    if (proof === undefined && this.required) this.refuse('missing');
  }

  /**
   * A bound token needs the proof of its key, and the scheme DPoP where it is in the header. An unbound one must not have
   * that scheme (RFC 9449 §7.1), and is refused with `required`. With `off` nothing verifies proofs, so a bound token is
   * refused.
   * @throws ProofRejected AUTH_401011
   */
  assertHolder({ payload, token }: PresentedToken, proof: Proof | undefined, request: FastifyRequest): void {
    const problem = this.problemOf(payload.cnf?.jkt, schemeOf(request), proof);
    if (problem !== undefined) this.refuse(problem);
    if (proof === undefined) return;
    const { ath } = proof;
    const mustNameToken = payload.cnf !== undefined && payload.token_use === 'access';
    if (ath === undefined ? mustNameToken : ath !== hash('sha256', token, 'base64url')) this.refuse('token');
  }

  /** Whether the setting lets the holder of a token use it at all. Other services ask without a proof of the holder. */
  admits({ cnf }: TokenPayload): boolean {
    return cnf === undefined ? !this.required : this.on;
  }

  private problemOf(boundTo: string | undefined, scheme: Scheme, proof: Proof | undefined): ProofProblem | undefined {
    if (boundTo === undefined) return scheme === 'dpop' || this.required ? 'unbound' : undefined;
    if (scheme === 'bearer' || !this.on) return 'bearer';
    if (proof === undefined) return 'missing';
    return proof.thumbprint === boundTo ? undefined : 'key';
  }

  /**
   * Uses the proof, and notes its key as one that the client of this request holds.
   * @throws ProofRejected AUTH_401011 when it was used before; DomainError COMMON_503001 when nobody can tell
   */
  async use(proof: Proof | undefined, request: FastifyRequest): Promise<void> {
    if (proof === undefined) return;
    if (!(await this.used.use(proof))) this.refuse('replayed');
    request.client = { ...request.client, provenKey: proof.thumbprint };
  }

  private refuse(problem: ProofProblem): never {
    throw this.refusals.of(problem);
  }
}

type Scheme = 'dpop' | 'bearer' | undefined;

/** Undefined: the token is in the body. */
function schemeOf({ headers: { authorization = '' } }: FastifyRequest): Scheme {
  if (/^dpop /i.test(authorization)) return 'dpop';
  return /^bearer /i.test(authorization) ? 'bearer' : undefined;
}
