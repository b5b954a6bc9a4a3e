export type FailureReason =
  | 'connection refused or lost'
  | 'certificate or TLS refused'
  | 'no answer in time'
  | 'malformed answer'
  | 'answer too large'
  | 'StartTLS refused'
  | 'TLS demanded'
  | 'service account refused'
  | 'search base not found'
  | 'more than one entry'
  | 'entry without a DN'
  | 'search or bind refused'
  | 'LDAP client not loaded';

/** The directory could not judge the credential. This error is logged, so it contains neither a DN nor a password. */
export class DirectoryFailure extends Error {
  override readonly name = 'DirectoryFailure';

  constructor(
    readonly reason: FailureReason,
    /** A code of the operating system, of TLS or of LDAP (RFC 4511 §4.1.9), or a sub-code of Active Directory. */
    readonly code?: string | number,
    options?: ErrorOptions,
  ) {
    super(code === undefined ? reason : `${reason} (${code})`, options);
  }

  /** True if another server of the directory may be able to judge. A wrong setting fails at every server. */
  get ofThisServerOnly(): boolean {
    return !['search base not found', 'more than one entry', 'entry without a DN', 'LDAP client not loaded'].includes(
      this.reason,
    );
  }
}

/** Translates the error of a socket or of a TLS handshake. */
export function connectionFailure(error: unknown): DirectoryFailure {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== 'string') return new DirectoryFailure('connection refused or lost');
  const tls = /CERT|TLS|SSL|SIGNED|SIGNATURE|VERIFY|ISSUER/.test(code);
  return new DirectoryFailure(tls ? 'certificate or TLS refused' : 'connection refused or lost', code);
}
