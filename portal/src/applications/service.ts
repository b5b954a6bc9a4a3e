import { type OperationOptions, ServiceError } from '@portal-auth/sdk';
import {
  endGrant as endGrantOperation,
  finishInteraction,
  type FinishInteractionDto,
  getInteraction,
  type GrantItem,
  type InteractingApplication,
  type InteractionResponse,
  listApplications,
  listGrants,
} from '@portal-auth/sdk/operations';
import { auth } from '../auth';

/** What the pages show of an application. */
export type Application = InteractingApplication;
/** A sign-in that an application has asked for, and that waits for its user. */
export type Interaction = InteractionResponse;

/** The answers of the user to the questions of an interaction. */
export type Answers = FinishInteractionDto;

/** What the user has allowed to an application of others. */
export type Grant = GrantItem;

export const applications = async (): Promise<readonly Application[]> =>
  (await auth.call(listApplications)).data.applications;

export const grants = async (): Promise<readonly Grant[]> => (await auth.call(listGrants)).data.grants;

export const endGrant = (id: string): Promise<unknown> =>
  auth.call((options) => endGrantOperation({ ...options, path: { id } }));

/** The user may not use the application. `redirectTo` leads back to it. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';

  constructor(readonly redirectTo: string) {
    super('the user may not use the application');
  }
}

/** The service tells by a cookie whether this browser has begun the sign-in. Other calls send no cookies. */
const withCookies = { credentials: 'include' } as const;

/**
 * Runs an operation about a sign-in that an application has asked for.
 * @throws NotAllowedError
 */
async function about<T>(operation: (options: OperationOptions) => Promise<Outcome<T>>): Promise<T> {
  let refusal: Refusal | undefined;
  try {
    const answer = await auth.call(async (options) => {
      const outcome = await operation({ ...options, ...withCookies });
      refusal = outcome.error as Refusal | undefined;
      return outcome;
    });
    return answer.data;
  } catch (error) {
    const back = refusal?.error_code === 'APP_403001' ? refusal.data?.redirect_to : undefined;
    throw back === undefined ? error : new NotAllowedError(back);
  }
}

interface Outcome<T> {
  readonly data?: { readonly data: T };
  readonly error?: unknown;
  readonly response?: Response;
}

interface Refusal {
  readonly error_code?: string;
  readonly data?: { readonly redirect_to?: string } | null;
}

export const interaction = (uid: string): Promise<Interaction> =>
  about((options) => getInteraction({ ...options, path: { uid } }));

/** @returns the address where the sign-in goes on: the browser has to go there */
export const goOn = async (uid: string, body: Answers): Promise<string> =>
  (await about((options) => finishInteraction({ ...options, path: { uid }, body }))).redirect_to;

/** The error code of the service, as a text: a browser can have pages that are older than the service. */
export const codeOf = (error: unknown): string | undefined => (error instanceof ServiceError ? error.code : undefined);
