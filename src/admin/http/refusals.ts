import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller, requestInvalid } from '../../shared/errors/error-catalogue';
import { EntryNotFound, EntryProblem } from '../entries';
import { SettingProblem } from '../known-settings';

/**
 * For the `catch` of a use case that the command line has too: its problems become USER_404001, or COMMON_400001 with the
 * name of the field.
 */
export function refused(error: unknown): never {
  if (error instanceof EntryNotFound) throw new DomainError(notFoundForCaller);
  if (error instanceof EntryProblem) throw invalid(error.field, error.message);
  if (error instanceof SettingProblem) throw invalid(error.part, error.message);
  throw error;
}

const invalid = (field: string, message: string) => new DomainError(requestInvalid, { fields: { [field]: [message] } });
