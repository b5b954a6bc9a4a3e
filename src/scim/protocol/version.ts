import { hash } from 'node:crypto';
import type { Resource } from './projection';
import { preconditionFailed } from './scim-error';

/** A weak ETag of what a client can see (RFC 7644 §3.14): resources that look the same have the same one. */
export const versionOf = (resource: Resource): string =>
  `W/"${hash('sha256', JSON.stringify(resource), 'base64url').slice(0, 22)}"`;

/** Whether a header names the version. Only the weak comparison is possible (RFC 9110 §8.8.3.2). */
export function names(header: string | undefined, version: string): boolean {
  if (header === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//i, '');
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(version));
}

/** @throws ScimError 412 when the client has seen another version */
export function assertVersion(ifMatch: string | undefined, version: string): void {
  if (ifMatch !== undefined && !names(ifMatch, version)) throw preconditionFailed();
}
