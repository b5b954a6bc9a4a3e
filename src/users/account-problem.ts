import { DomainError } from '../shared/errors/domain-error';
import { type CatalogueEntry, requestInvalid } from '../shared/errors/error-catalogue';
import type { WireName } from './user-wire';

/**
 * An account cannot be created or changed as requested. The message tells the operator of the command line why. An
 * administrator of the API gets the entry of the catalogue, and with COMMON_400001 the message at its field.
 */
export class AccountProblem extends DomainError {
  override readonly name = 'AccountProblem';

  constructor(problem: string, why: WireName | CatalogueEntry = requestInvalid) {
    const field = typeof why === 'string' ? { [why]: [problem] } : undefined;
    super(typeof why === 'string' ? requestInvalid : why, field && { fields: field });
    this.message = problem;
  }
}
