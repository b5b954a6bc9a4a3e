import { type ArgumentMetadata, type Type, type ValidationError, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, IS_STRING, ValidationTypes } from 'class-validator';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';

const options = {
  whitelist: true,
  transform: true,
  transformOptions: { enableImplicitConversion: false },
  forbidUnknownValues: true,
  // messageOf needs the value and its class. Neither is part of the answer.
  validationError: { target: true, value: true },
  exceptionFactory: (errors: ValidationError[]) => new DomainError(requestInvalid, { fields: fieldsOf(errors) }),
};

const strictTypes = new WeakSet<object>();

/** Unknown fields of these classes are refused instead of dropped. */
export function refuseUnknownFieldsOf(types: readonly Type<unknown>[]): void {
  for (const type of types) strictTypes.add(type);
}

/**
 * Checks the types of each body. COMMON_400001 names the fields that are wrong. Unknown fields are dropped, except for
 * the classes of `refuseUnknownFieldsOf`. Values are not converted, so no array or object reaches a query
 * (docs/spec/attacks.md#w42).
 */
export function validationPipe(): ValidationPipe {
  return new BodyValidation();
}

/**
 * For each validation, class-validator compares the class with all others to find the rules that it inherits. That is two
 * fifths of the time of a small body (ADR 0014). The decorators of a class have set all its rules before a body of this class exists.
 */
function searchRulesOnce(): void {
  const storage = getMetadataStorage();
  const search = storage.getTargetValidationMetadatas.bind(storage);
  const found = new WeakMap<object, ReturnType<typeof search>>();
  storage.getTargetValidationMetadatas = (type, schema, always, strictGroups, groups) => {
    if (schema || strictGroups || groups?.length) return search(type, schema, always, strictGroups, groups);
    const known = found.get(type) ?? search(type, schema, always, strictGroups, groups);
    found.set(type, known);
    return known;
  };
}

searchRulesOnce();

class BodyValidation extends ValidationPipe {
  private readonly strict = new ValidationPipe({ ...options, forbidNonWhitelisted: true });

  constructor() {
    super(options);
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (metatype !== undefined && strictTypes.has(metatype)) {
      refuseInheritedNames(value);
      return this.strict.transform(value, metadata);
    }
    return super.transform(value, metadata);
  }
}

const bodies = new BodyValidation();

/** A body that the handler has read by itself, as the pipe judges it. @throws DomainError COMMON_400001 */
export const validated = (metatype: Type<object>, value: unknown): Promise<object> =>
  bodies.transform(value, { type: 'body', metatype }) as Promise<object>;

/** class-transformer drops fields of these names, and class-validator takes them for known ones. */
function refuseInheritedNames(value: unknown): void {
  const names = Object.keys(value ?? {}).filter((name) => name in Object.prototype);
  if (names.length === 0) return;
  const fields = Object.fromEntries(names.map((name) => [name, [`${name} is not a known field`]]));
  throw new DomainError(requestInvalid, { fields });
}

function fieldsOf(errors: readonly ValidationError[]): Record<string, string[]> {
  return Object.fromEntries(errors.map((error) => [error.property, [messageOf(error)]]));
}

/** One message for each field: that it is missing, else that its type is wrong, else the first rule that it breaks. */
function messageOf(error: ValidationError): string {
  const { property, constraints = {} } = error;
  if (constraints.whitelistValidation !== undefined) return `${property} is not a known field`;
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
