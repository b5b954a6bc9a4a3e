import { timingSafeEqual } from 'node:crypto';
import { sha256Hex } from '../platform/crypto/key-ring';
import type { Application } from './application.entity';

/** Compares in constant time with the secret, and with the former secret as long as `rotate-secret` keeps it. */
export function secretMatches(application: Application | null, secret: string, now: Date): boolean {
  if (application === null) return false;
  const { secretHash, oldSecretHash, oldSecretExpires } = application;
  const keepsOld = oldSecretExpires !== null && oldSecretExpires > now;
  const accepted = [secretHash, keepsOld ? oldSecretHash : null].filter((hash) => hash !== null);
  const presented = Buffer.from(sha256Hex(secret), 'hex');
  return accepted.map((hash) => timingSafeEqual(Buffer.from(hash, 'hex'), presented)).includes(true);
}
