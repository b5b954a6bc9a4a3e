import { type OperationOptions, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';

/** What the pages show of an application. */
export interface Application {
  readonly id: string;
  readonly name: string;
  readonly logo_url: string | null;
  readonly uri: string | null;
}

/** A sign-in that an application has asked for, and that waits for its user. */
export interface Interaction {
  readonly application: Application;
  readonly scopes: readonly string[];
  /** The user has to allow it first. */
  readonly consent: boolean;
  /** A password alone is not enough for it. */
  readonly second_factor: boolean;
}

export interface Grant {
  readonly id: string;
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly created_at: string;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The service tells by a cookie whether this browser has begun the sign-in. Other calls send no cookies. */
  readonly credentials?: 'include';
}

const send =
  <T>(call: Call) =>
  ({ client, ...options }: OperationOptions) =>
    client.request<{ 200: { data: T } }>({ security: [{ scheme: 'bearer', type: 'http' }], ...call, ...options });

const data = async <T>(call: Call): Promise<T> => (await auth.call(send<T>(call))).data;

export const applications = async (): Promise<Application[]> =>
  (await data<{ applications: Application[] }>({ method: 'GET', url: '/user/applications' })).applications;

export const grants = async (): Promise<Grant[]> =>
  (await data<{ grants: Grant[] }>({ method: 'GET', url: '/user/grants' })).grants;

export const endGrant = (id: string): Promise<unknown> =>
  data({ method: 'DELETE', url: '/user/grants/{id}', path: { id } });

/** The user may not use the application. `redirectTo` leads back to it. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';

  constructor(readonly redirectTo: string) {
    super('the user may not use the application');
  }
}

/**
 * A request about a sign-in that an application has asked for.
 * @throws NotAllowedError
 */
async function about<T>(uid: string, call: Pick<Call, 'method' | 'body'>): Promise<T> {
  let refusal: { readonly error_code?: string; readonly data?: { readonly redirect_to?: string } | null } | undefined;
  const url = '/applications/interactions/{uid}';
  try {
    const { data } = await auth.call(async (options) => {
      const outcome = await send<T>({ ...call, url, path: { uid }, credentials: 'include' })(options);
      refusal = outcome.error as typeof refusal;
      return outcome;
    });
    return data;
  } catch (error) {
    const back = refusal?.error_code === 'APP_403001' ? refusal.data?.redirect_to : undefined;
    throw back === undefined ? error : new NotAllowedError(back);
  }
}

export const interaction = (uid: string): Promise<Interaction> => about(uid, { method: 'GET' });

/** @returns the address where the sign-in goes on: the browser has to go there */
export const goOn = async (uid: string, body: { readonly consent?: boolean }): Promise<string> =>
  (await about<{ redirect_to: string }>(uid, { method: 'POST', body })).redirect_to;

/** The error code of the service, as a text: a browser can have pages that are older than the service. */
export const codeOf = (error: unknown): string | undefined => (error instanceof ServiceError ? error.code : undefined);
