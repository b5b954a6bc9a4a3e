import { type Declaring, userFields } from './user-fields';
import type { User } from './user.entity';

export type WireField = Declaring<{ readonly wire: string }>;
export type WireName = (typeof userFields)[WireField]['wire'];

type OnWire<Value> = Value extends Date ? string : Value;

/** Fields of a user under their names in the API. A DTO that misses one of its fields does not compile. */
export type Wired<P extends WireField> = { [Q in P as (typeof userFields)[Q]['wire']]: OnWire<User[Q]> };

export const wireNameOf = (field: WireField): WireName => userFields[field].wire;

/** Its name in files to import and in the plan of an adoption. */
export type FileName<P extends WireField> =
  P extends Declaring<{ readonly formerly: string }>
    ? (typeof userFields)[P]['formerly']
    : (typeof userFields)[P]['wire'];

export function fileNameOf<P extends WireField>(field: P): FileName<P> {
  const names: { readonly wire: string; readonly formerly?: string } = userFields[field];
  return (names.formerly ?? names.wire) as FileName<P>;
}

export function wired<P extends WireField>(user: Readonly<Pick<User, P>>, fields: readonly P[]): Wired<P> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value: unknown = user[field];
    values[wireNameOf(field)] = value instanceof Date ? value.toISOString() : value;
  }
  return values as Wired<P>;
}

/** The fields that a body gives. */
export function unwired<P extends WireField>(body: Wired<P>, fields: readonly P[]): Partial<Pick<User, P>> {
  const values = body as Readonly<Record<string, unknown>>;
  const given = fields.map((field) => [field, values[wireNameOf(field)]]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Pick<User, P>>;
}
