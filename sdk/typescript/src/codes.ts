import { ServiceError } from './failures.js';

/** Accepts the spaces and full-width digits that people type or paste. */
export const plainCode = (code: string): string => code.normalize('NFKC').replace(/\s/g, '');

export function isRefusedCode(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'MFA_401001' || error.code === 'AUTH_MFA_401001');
}

/** The name of the wait between two code mails to a user. */
export const resendOf = (uid: string): string => `resend:${uid}`;
