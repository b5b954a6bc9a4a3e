import { type Path, parsePath } from './filter';
import { attributeKey } from './schemas';
import { invalidPath, invalidSyntax, invalidValue, ScimError } from './scim-error';

export type Operator = 'add' | 'replace' | 'remove';

/** One change of one attribute. An operation without a path has one for each attribute of its value. */
export interface Operation {
  readonly operator: Operator;
  /** Its attribute has no URN (`attributeKey`) and no sub-attribute. */
  readonly path: Path;
  readonly value: unknown;
}

/** Each one costs a step of the use case. A client that changes more sends several requests. */
const mostOperations = 1000;

/**
 * Reads the body of a PATCH in the forms that Entra ID and Okta document: operators in any case, a value object without a path, and
 * in it also dotted names and names with the URN of their schema.
 * @throws ScimError `invalidSyntax`, `invalidPath`, `noTarget`
 */
export function operationsOf(body: unknown): Operation[] {
  const operations = member(body, 'operations');
  if (!Array.isArray(operations) || operations.length === 0) throw invalidSyntax('Operations must be a list');
  if (operations.length > mostOperations) throw invalidSyntax(`Operations has at most ${mostOperations} members`);
  const all = operations.flatMap(read);
  if (all.length > mostOperations) throw invalidSyntax(`Operations changes at most ${mostOperations} attributes`);
  return all;
}

function read(operation: unknown): Operation[] {
  const operator = operatorOf(member(operation, 'op'));
  const [path, value] = [member(operation, 'path'), member(operation, 'value')];
  if (path !== undefined && path !== null && path !== '') {
    if (typeof path !== 'string') throw invalidPath('path must be a text');
    return entries(operator, pathOf(path), value);
  }
  if (operator === 'remove') throw new ScimError(400, 'noTarget', 'remove needs a path');
  if (!isObject(value)) throw invalidValue('without a path, value must be an object');
  return attributes(operator, value);
}

function attributes(operator: Operator, value: Readonly<Record<string, unknown>>): Operation[] {
  return Object.entries(value).flatMap(([name, one]) => entries(operator, pathOf(name), one));
}

/** The URN of a schema stands for the members of its value. */
function entries(operator: Operator, path: Path, value: unknown): Operation[] {
  const isSchema = path.attribute === '' || (path.attribute === 'enterprise' && path.sub === undefined);
  if (!isSchema || operator === 'remove') return [{ operator, path, value }];
  if (!isObject(value)) throw invalidValue('the value of a schema must be an object');
  return Object.entries(value).map(([name, one]) => {
    const member = attributeKey(name);
    const inExtension = path.attribute === '' || /^enterprise\./i.test(member);
    return { operator, path: pathOf(inExtension ? member : `enterprise.${member}`), value: one };
  });
}

/** `emails.value` is the sub-attribute `value` of `emails`. @throws ScimError `invalidPath` */
function pathOf(text: string): Path {
  const key = attributeKey(text);
  if (key === '') return { attribute: '' };
  try {
    const path = parsePath(key);
    const [attribute = '', ...sub] = path.attribute.split('.');
    return sub.length === 0 || path.within !== undefined ? path : { attribute, sub: sub.join('.') };
  } catch (error) {
    throw error instanceof ScimError ? invalidPath(error.detail) : error;
  }
}

function operatorOf(op: unknown): Operator {
  const operator = typeof op === 'string' ? op.toLowerCase() : '';
  if (operator === 'add' || operator === 'replace' || operator === 'remove') return operator;
  throw invalidSyntax('op must be add, replace or remove');
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of an object by its name in any case (RFC 7643 §2.1). Undefined for anything else. */
export function member(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  const key = Object.keys(value).find((one) => one.toLowerCase() === name);
  return key === undefined ? undefined : value[key];
}
