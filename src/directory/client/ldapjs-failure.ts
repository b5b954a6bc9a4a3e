import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';

/** Result codes of RFC 4511 Appendix A. */
const [noSuchObject, invalidCredentials] = [32, 49];
/** A server that takes passwords only over TLS answers this: Active Directory by default, OpenLDAP with `security`. */
const tlsDemanded = [8, 13];

/**
 * Translates an error of ldapjs that is not the refusal of a user's password.
 * @param during the request that failed
 */
export function ldapjsFailure(error: unknown, during: 'service bind' | 'search'): DirectoryFailure {
  if (error instanceof DirectoryFailure) return error;
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (name === 'TimeoutError' || message === 'connection timeout') return new DirectoryFailure('no answer in time');
  if (name === 'VError') return parseFailure(error as { readonly cause?: () => unknown });
  if (name === 'ConnectionError' || typeof code !== 'number') return connectionFailure(error);
  if (tlsDemanded.includes(code)) return new DirectoryFailure('TLS demanded', code);
  if (during === 'service bind') {
    const detail = code === invalidCredentials ? subCodeOf(message) : code;
    return new DirectoryFailure('service account refused', detail);
  }
  if (code === noSuchObject) return new DirectoryFailure('search base not found');
  return new DirectoryFailure('search or bind refused', code);
}

/** ldapjs wraps the errors of its parser in a VError, and no other errors. */
function parseFailure(error: { readonly cause?: () => unknown }): DirectoryFailure {
  const cause = error.cause?.();
  return cause instanceof DirectoryFailure ? cause : new DirectoryFailure('malformed answer');
}

/** The sub-code of Active Directory, in the message of a refused bind. */
export function subCodeOf(message: unknown): string | undefined {
  return /\bdata ([0-9a-f]{3}),/.exec(String(message))?.[1];
}
