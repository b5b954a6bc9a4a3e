import type { Proof } from './proof-reader';

/** The memory of used proofs, over all replicas (ADR 0033). */
export abstract class UsedProofs {
  /**
   * Race: the same proof in parallel, at any replica. The first one wins.
   * @returns true if this caller won; false when the proof was used before
   * @throws DomainError COMMON_503001 when the memory is away or full: it then says neither
   */
  abstract use(proof: Pick<Proof, 'id' | 'forgottenAfter'>): Promise<boolean>;
}
