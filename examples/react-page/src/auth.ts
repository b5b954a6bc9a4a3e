import { useSyncExternalStore } from 'react';
import { ConnectionError, type ErrorCode, PortalAuth, RuleError, ServiceError, type Snapshot } from '@portal-auth/sdk';

/** The only instance. It keeps the tokens in the storage of the browser, and renews them when they have expired. */
export const auth = new PortalAuth({ baseUrl: import.meta.env.VITE_AUTH_URL ?? 'http://localhost:3000' });

const subscribe = (listener: () => void) => auth.subscribe(listener);

export function useAuth(): Snapshot {
  return useSyncExternalStore(subscribe, () => auth.snapshot);
}

const texts: Partial<Record<ErrorCode, string>> = {
  LOGIN_401001: 'The user name or password is wrong.',
  LOGIN_401004: 'The account is locked. Try again later.',
  MFA_401001: 'The code is wrong.',
  AUTH_MFA_401001: 'The code is wrong.',
};

/** A page decides by the code. The message of the service is for codes without a text of their own. */
export function textOf(error: unknown): string {
  if (error instanceof ServiceError) return texts[error.code] ?? error.message;
  if (error instanceof RuleError && error.rule === 'wait') return `Please wait ${error.seconds} seconds.`;
  if (error instanceof ConnectionError) return 'The service does not answer. Try again.';
  return 'Something went wrong. Reload the page.';
}
