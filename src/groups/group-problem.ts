import { DomainError } from '../shared/errors/domain-error';
import { notFoundForCaller, notPermitted, requestInvalid } from '../shared/errors/error-catalogue';

/**
 * Why a group cannot be written as asked. `missing`: there is no such group in reach, or no such user in its tenant;
 * `foreign`: another source owns the group; `taken`: another group of the tenant has the name; `full`: a limit is reached.
 */
export type GroupProblemReason = 'missing' | 'foreign' | 'taken' | 'malformed' | 'full';

const entries = {
  missing: notFoundForCaller,
  foreign: notPermitted,
  taken: requestInvalid,
  malformed: requestInvalid,
  full: requestInvalid,
} as const;

/** The message is one line for a person: for an operator, and at its field for an administrator. */
export class GroupProblem extends DomainError {
  override readonly name = 'GroupProblem';

  constructor(
    readonly reason: GroupProblemReason,
    problem: string,
    field = 'name',
  ) {
    const entry = entries[reason];
    super(entry, entry === requestInvalid ? { fields: { [field]: [problem] } } : undefined);
    this.message = problem;
  }
}
