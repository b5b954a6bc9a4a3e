import { DomainError } from './domain-error';
import { proofRejected } from './error-catalogue';

/** Why a proof of possession, or a token without its proof, was refused. The label of a metric. */
export const proofProblems = {
  missing: 'A proof is missing.',
  malformed: 'The proof is not one signed JWT of the form of RFC 9449.',
  signature: 'The signature of the proof does not match its key.',
  method: 'The proof is for another method.',
  url: 'The proof is for another URL.',
  time: 'The proof was not made within the last 60 seconds.',
  token: 'The proof is not for this token.',
  replayed: 'The proof was used before.',
  key: 'The proof is of another key than the token or the login.',
  bearer: 'The token is bound to a key, and was sent without the scheme DPoP.',
  unbound: 'The token is not bound to a key.',
} as const;

export type ProofProblem = keyof typeof proofProblems;

const ofTheToken: ReadonlySet<ProofProblem> = new Set<ProofProblem>(['key', 'bearer', 'unbound']);

/** AUTH_401011, with the header `WWW-Authenticate` of RFC 9449 §7.1. */
export class ProofRejected extends DomainError {
  override readonly name = 'ProofRejected';

  constructor(readonly problem: ProofProblem) {
    super(proofRejected);
  }

  get challenge(): string {
    const error = ofTheToken.has(this.problem) ? 'invalid_token' : 'invalid_dpop_proof';
    return `DPoP error="${error}", error_description="${proofProblems[this.problem]}", ${proofAlgorithms}`;
  }
}

export const proofAlgorithms = 'algs="ES256 EdDSA"';
