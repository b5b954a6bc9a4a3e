import { ServiceError } from '@portal-auth/sdk';

/** Another user has the login name or the e-mail address. */
export const isTaken = (error: unknown): boolean => error instanceof ServiceError && error.code === 'USER_409001';
