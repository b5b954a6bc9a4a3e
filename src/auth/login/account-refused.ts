import { DomainError } from '../../shared/errors/domain-error';
import type { User } from '../../users/user.entity';

/** A refusal of an account that was found under another name than its login name. It is recorded for this account. */
export class AccountRefused extends DomainError {
  constructor(
    refusal: DomainError,
    readonly user: User,
  ) {
    super(refusal.entry, refusal.data, { cause: refusal.cause });
  }
}
