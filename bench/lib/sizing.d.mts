export type Assumptions = Readonly<Record<string, number>>;

export const assumptions: Assumptions;

export interface Rates {
  readonly logins: number;
  readonly refreshes: number;
  readonly checks: number;
}

export interface Measured {
  readonly login: { readonly cpuMs: number };
  readonly refresh: { readonly cpuMs: number };
  readonly check: { readonly cpuMs: number };
  readonly memoryMiB: number;
}

export interface Service extends Rates {
  readonly loginMs: number;
  readonly processors: number;
  readonly replicas: number;
  readonly replicaMiB: number;
  readonly memoryMiB: number;
}

type Cost = Readonly<Record<'statements' | 'commits' | 'logBytes' | 'cpuMs', number>>;

export function peak(users: number, a: Assumptions): Rates;
export function serviceFor(users: number, rates: Measured, a: Assumptions): Service;
export function databaseFor(
  users: number,
  service: Pick<Service, 'replicas'>,
  costs: Readonly<Record<'login' | 'refresh' | 'check', Cost>>,
  a: Assumptions,
): Readonly<Record<'statements' | 'commits' | 'logBytes' | 'processors' | 'connections' | 'maxConnections', number>>;

export interface Day {
  readonly kinds: Readonly<
    Record<string, { readonly times: number; readonly serviceMs: number; readonly databaseMs: number }>
  >;
}

/** Seconds of a processor. */
export function dayOfThousand(
  day: Day,
  a: Assumptions,
): Record<string, { readonly times: number; readonly service: number; readonly database: number }>;
