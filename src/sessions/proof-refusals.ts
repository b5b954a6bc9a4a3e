import { Injectable } from '@nestjs/common';
import { type ProofProblem, ProofRejected } from '../shared/errors/proof-rejected';

/** Makes each refusal of a proof, and counts it for the metrics. */
@Injectable()
export class ProofRefusals {
  private readonly counts = new Map<ProofProblem, number>();

  of(problem: ProofProblem): ProofRejected {
    this.counts.set(problem, (this.counts.get(problem) ?? 0) + 1);
    return new ProofRejected(problem);
  }

  get byProblem(): ReadonlyMap<ProofProblem, number> {
    return this.counts;
  }
}
