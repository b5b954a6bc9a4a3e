import type { PeerCertificate } from 'node:tls';
import { storeCode } from './store-failure';

/**
 * Why TLS with the database failed, and which part of `DATABASE_URL` to look at. mysql2 replaces the code of the cause
 * by one of its own, so the text of the cause decides. The text has names of the certificate, and no secret.
 * @returns undefined if the error is another one
 */
export function tlsFailure(error: unknown): string | undefined {
  const code = storeCode(error);
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return 'the server offers no TLS: see ssl-mode in DATABASE_URL';
  if (code !== 'HANDSHAKE_SSL_ERROR') return undefined;
  const { message, reason, cert } = error as Error & {
    reason?: string;
    cert?: Pick<PeerCertificate, 'subjectaltname'>;
  };
  if (cert !== undefined)
    return `the certificate is for ${cert.subjectaltname ?? 'no name'}, and not for the host of DATABASE_URL`;
  if (/self.signed|issuer|verify the first/.test(message)) {
    return `${message}: set ssl-ca in DATABASE_URL to the authority of the server`;
  }
  return oneLine(reason ?? message);
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 300);
