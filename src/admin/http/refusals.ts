import { ApplicationProblem } from '../../applications/application-rules';
import { BrandProblem } from '../../brand/brand-rules';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller, refusedAsItIs, requestInvalid } from '../../shared/errors/error-catalogue';
import { EntryNotFound, EntryProblem } from '../entries';
import { timeOfText } from '../../shared/time-text';
import { ProviderInUse, ProviderProblem } from '../identity-provider-rules';
import { ReceiverProblem } from '../event-receiver-rules';
import { SettingProblem } from '../known-settings';

/**
 * For the `catch` of a use case that the command line has too: its problems become USER_404001, or COMMON_400001 with the
 * name of the field.
 */
export function refused(error: unknown): never {
  if (error instanceof EntryNotFound) throw new DomainError(notFoundForCaller);
  if (error instanceof EntryProblem) throw invalid(error.field, error.message);
  if (error instanceof ApplicationProblem) throw new DomainError(requestInvalid, { fields: error.fields });
  if (error instanceof BrandProblem) throw new DomainError(requestInvalid, { fields: error.fields });
  if (error instanceof ProviderInUse) throw new DomainError(refusedAsItIs, { fields: error.fields });
  if (error instanceof ProviderProblem) throw new DomainError(requestInvalid, { fields: error.fields });
  if (error instanceof ReceiverProblem) throw new DomainError(requestInvalid, { fields: error.fields });
  if (error instanceof SettingProblem) throw invalid(error.part, error.message);
  throw error;
}

/** A text can have the form of a time and be none. @throws DomainError COMMON_400001 */
export function requestTime(field: string, text: string): Date {
  const time = timeOfText(text);
  if (time === undefined) throw invalid(field, `${field} is not a time`);
  return time;
}

const invalid = (field: string, message: string) => new DomainError(requestInvalid, { fields: { [field]: [message] } });
