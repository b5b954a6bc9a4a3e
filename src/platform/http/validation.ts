import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, IS_STRING, ValidationTypes } from 'class-validator';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';

/**
 * Checks the types of each body. COMMON_400001 names the fields that are wrong. Unknown fields are dropped. Values are
 * not converted, so no array or object reaches a query (docs/spec/attacks.md#w42).
 */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    forbidUnknownValues: true,
    // messageOf needs the value and its class. Neither is part of the answer.
    validationError: { target: true, value: true },
    exceptionFactory: (errors) => new DomainError(requestInvalid, { fields: fieldsOf(errors) }),
  });
}

function fieldsOf(errors: readonly ValidationError[]): Record<string, string[]> {
  return Object.fromEntries(errors.map((error) => [error.property, [messageOf(error)]]));
}

/** One message for each field: that it is missing, else that its type is wrong, else the first rule that it breaks. */
function messageOf(error: ValidationError): string {
  const { property, constraints = {} } = error;
  const value: unknown = error.value;
  const missing = value === undefined || value === null || (value === '' && !isOptional(error));
  if (missing) return `${property} is required`;
  return constraints[IS_STRING] ?? Object.values(constraints)[0] ?? `${property} is not valid`;
}

/** Whether the field has `@IsOptional()`. An empty text in such a field is a wrong value, not a missing one. */
function isOptional({ target, property }: ValidationError): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas((target as object).constructor, '', true, false)
    .some((rule) => rule.propertyName === property && rule.type === ValidationTypes.CONDITIONAL_VALIDATION);
}
