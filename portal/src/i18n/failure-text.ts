import { ConnectionError, RuleError, ServiceError } from '@portal-auth/sdk';
import type { Texts } from './en';
import { fill } from './texts';

/** The text for an error, in the language of the page. For an unknown error code, the message of the service. */
export function failureText(t: Texts, error: unknown): string {
  if (error instanceof ServiceError)
    return fill(t.errors[error.code] ?? error.message, { seconds: error.retryAfter ?? 1 });
  if (error instanceof ConnectionError) return t.failures.connection;
  if (!(error instanceof RuleError)) return t.failures.unknown;
  switch (error.rule) {
    case 'wait':
      return fill(t.failures.wait, { seconds: error.seconds });
    case 'no-pending-login':
      return t.failures.noPendingLogin;
    case 'signed-out':
      return t.failures.signedOut;
  }
}
