import { DomainError } from '../../shared/errors/domain-error';
import type { User } from '../../users/user.entity';

/**
 * A refusal of an account that was found under another name than its login name. It is recorded for this account. Null: the
 * name belongs to nobody any more, and it is recorded for the name that was typed.
 */
export class AccountRefused extends DomainError {
  constructor(
    refusal: DomainError,
    readonly user: User | null,
  ) {
    super(refusal.entry, refusal.data, { cause: refusal.cause });
  }
}
