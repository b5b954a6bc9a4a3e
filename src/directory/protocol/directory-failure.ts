export type FailureReason =
  | 'connection refused or lost'
  | 'certificate or TLS refused'
  | 'no answer in time'
  | 'malformed answer'
  | 'answer too large'
  | 'StartTLS refused'
  | 'service account refused'
  | 'search base not found'
  | 'more than one entry'
  | 'entry without a DN'
  | 'search or bind refused';

/** The directory could not judge. Says nothing of the credential, and holds neither a DN nor a password: it is logged. */
export class DirectoryFailure extends Error {
  override readonly name = 'DirectoryFailure';

  constructor(
    readonly reason: FailureReason,
    /** Of the operating system, of TLS, of LDAP (RFC 4511 §4.1.9) or an Active Directory sub-code. */
    readonly code?: string | number,
  ) {
    super(code === undefined ? reason : `${reason} (${code})`);
  }

  /** Whether another server of the same directory may do better; a wrong setting is wrong at all of them. */
  get ofThisServerOnly(): boolean {
    return !['search base not found', 'more than one entry', 'entry without a DN'].includes(this.reason);
  }
}

/** What a socket or a TLS handshake broke with. */
export function connectionFailure(error: unknown): DirectoryFailure {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== 'string') return new DirectoryFailure('connection refused or lost');
  const tls = /CERT|TLS|SSL|SIGNED|SIGNATURE|VERIFY|ISSUER/.test(code);
  return new DirectoryFailure(tls ? 'certificate or TLS refused' : 'connection refused or lost', code);
}
