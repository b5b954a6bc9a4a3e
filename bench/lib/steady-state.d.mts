import type { Assumptions } from './sizing.mjs';

type Tables = Readonly<Record<string, { readonly indexes: Readonly<Record<string, number>> }>>;

export const usage: Assumptions;
export function rowsFor(users: number, a: Assumptions): Record<string, number>;
export function purgedPerDay(users: number, a: Assumptions): number;
export function bytesFor(users: number, tables: Tables, a: Assumptions): Record<string, number>;
export function bufferPoolFor(users: number, tables: Tables, a: Assumptions): number;
