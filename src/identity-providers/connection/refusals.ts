import { ProviderAway, ProviderRefused } from '../provider-connection';

/** Codes with which a provider says that it cannot answer now, or that it does not accept this service as its client. */
const awayCodes = ['server_error', 'temporarily_unavailable', 'invalid_client', 'unauthorized_client'];
/** Codes of the packages: there was no answer, or it was no document. */
const noAnswer = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
  'ERR_JOSE_GENERIC',
];
/** An error of the provider becomes a word of the log only if it is a code of the protocol, not a text. */
const wordForm = /^[a-z_]{1,40}$/i;

interface LibraryError {
  readonly code?: unknown;
  readonly error?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** Sorts what the packages and the network throw. The fault of an answer and the lack of one are told apart here only. */
export function sorted(error: unknown): ProviderRefused | ProviderAway {
  const { code, error: said, status, cause } = (error ?? {}) as LibraryError;
  for (const known of [error, cause]) {
    if (known instanceof ProviderAway || known instanceof ProviderRefused) return known;
  }
  if (typeof said === 'string') {
    const word = wordForm.test(said) ? said : 'error';
    const isAway = awayCodes.includes(said) || (typeof status === 'number' && (status >= 500 || status === 429));
    return isAway ? new ProviderAway(word, { cause: error }) : new ProviderRefused(word, { cause: error });
  }
  if (typeof code === 'string' && noAnswer.includes(code)) return new ProviderAway(word(code), { cause: error });
  // JSON that cannot be read is no answer; a token that cannot be read is a wrong one.
  if (code === 'OAUTH_PARSE_ERROR') return new ProviderAway(word(code), { cause: error });
  if (typeof code === 'string' && /^(OAUTH_|ERR_J)/.test(code))
    return new ProviderRefused(word(code), { cause: error });
  return new ProviderAway('unreachable', { cause: error });
}

const word = (code: string): string => code.replace(/^OAUTH_/, '').toLowerCase();
