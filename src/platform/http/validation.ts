import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';

/**
 * The one pipe: a body is of the declared types or COMMON_400001 names its fields. Unknown fields are dropped, nothing is
 * converted, so no array or object ever reaches a query (W42).
 */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    forbidUnknownValues: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => new DomainError(requestInvalid, { fields: fieldsOf(errors) }),
  });
}

function fieldsOf(errors: readonly ValidationError[]): Record<string, string[]> {
  return Object.fromEntries(
    errors.map((error) => [error.property, Object.values(error.constraints ?? { nested: 'is not valid' })]),
  );
}
