import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, IS_STRING, ValidationTypes } from 'class-validator';
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
    // messageOf needs the value and its class; neither is part of the answer.
    validationError: { target: true, value: true },
    exceptionFactory: (errors) => new DomainError(requestInvalid, { fields: fieldsOf(errors) }),
  });
}

function fieldsOf(errors: readonly ValidationError[]): Record<string, string[]> {
  return Object.fromEntries(errors.map((error) => [error.property, [messageOf(error)]]));
}

/** One message for each field, and the first thing that is wrong with it: it is missing, of another type, of another form. */
function messageOf(error: ValidationError): string {
  const { property, constraints = {} } = error;
  const value: unknown = error.value;
  const missing = value === undefined || value === null || (value === '' && !isOptional(error));
  if (missing) return `${property} is required`;
  return constraints[IS_STRING] ?? Object.values(constraints)[0] ?? `${property} is not valid`;
}

/** Whether the class marks the field with `@IsOptional()`: an empty text is then a wrong value, not a missing one. */
function isOptional({ target, property }: ValidationError): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas((target as object).constructor, '', true, false)
    .some((rule) => rule.propertyName === property && rule.type === ValidationTypes.CONDITIONAL_VALIDATION);
}
