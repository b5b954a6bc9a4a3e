import { one, type RawQuery } from './list-query';
import { attributeKey } from './schemas';
import { invalidValue } from './scim-error';

export type Resource = Readonly<Record<string, unknown>>;

/** Which attributes of a resource an answer has (RFC 7644 §3.9). `id`, `schemas` and `meta` are always among them. */
export interface Projection {
  /** Whether the answer has any part of the attribute, so that the use case need not read it otherwise. */
  has(attribute: string): boolean;
  of(resource: Resource): Resource;
}

const always = ['id', 'schemas', 'meta'];

/** @throws ScimError when both parameters are given */
export function projectionOf(query: RawQuery): Projection {
  const [wanted, unwanted] = [names(query, 'attributes'), names(query, 'excludedAttributes')];
  if (wanted !== undefined && unwanted !== undefined)
    throw invalidValue('attributes and excludedAttributes exclude each other');
  if (wanted !== undefined) return including(wanted);
  return excluding(unwanted ?? []);
}

function including(names: readonly string[]): Projection {
  const has = (path: string) =>
    always.includes(path.split('.')[0]!) || names.some((name) => name === path || path.startsWith(`${name}.`));
  const hasPart = (path: string) => has(path) || names.some((name) => name.startsWith(`${path}.`));
  return { has: hasPart, of: (resource) => pruned(resource, '', (path, leaf) => (leaf ? has(path) : hasPart(path))) };
}

function excluding(names: readonly string[]): Projection {
  const has = (path: string) => always.includes(path) || !names.includes(path);
  return { has, of: (resource) => (names.length === 0 ? resource : pruned(resource, '', has)) };
}

/** Members of objects and of the objects in lists. A list counts as the object that it has. */
function pruned(value: Resource, prefix: string, keep: (path: string, leaf: boolean) => boolean): Resource {
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const path = prefix + attributeKey(name).toLowerCase();
    const inside = (one: unknown): unknown =>
      typeof one === 'object' && one !== null ? pruned(one as Resource, `${path}.`, keep) : one;
    const leaf = typeof member !== 'object' || member === null || path === 'schemas';
    if (!keep(path, leaf)) continue;
    if (leaf) kept[name] = member;
    else kept[name] = Array.isArray(member) ? member.map(inside) : inside(member);
  }
  return kept;
}

function names(query: RawQuery, parameter: string): string[] | undefined {
  const list = one(query, parameter);
  return list?.split(',', 100).map((name) => attributeKey(name.trim()).toLowerCase());
}
