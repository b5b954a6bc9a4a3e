import type { OldAddresses } from '../platform/database/old-addresses';
import { day, hour, type OldRows } from '../platform/database/old-rows';

/**
 * Rows of `login_tokens` can be deleted one by one: no token of a session expires after its first refresh token, whose
 * row decides for the session (ADR 0005). An hour is enough: the `exp` of a token is checked before its row. `beforePurge` of
 * SessionTraces is told of each batch.
 */
export const oldTokens: OldRows = { table: 'login_tokens', key: 'jti', time: 'expires', seconds: hour };

export const oldPendingLogins: OldRows = { table: 'pending_logins', key: 'user_id', time: 'expires', seconds: hour };

export const oldDevices: OldRows = { table: 'trusted_devices', key: 'id', time: 'expires', seconds: day };

/**
 * Used proofs. Each replica removes them itself (`StoredUsedProofs`). What is left belongs to an installation that uses
 * Redis now, or binds no tokens any more.
 */
export const oldProofs: OldRows = { table: 'used_proofs', key: 'id', time: 'expires', seconds: hour };

/** What identifies a known browser comes from the login logs, so it is not kept longer than they are. */
export const oldBrowsers: OldRows = { table: 'known_browsers', key: 'user_id', time: 'seen_at', seconds: 'logs' };

/** Where sessions began. `purge` deletes a session soon after it expires, so most of them never get so old. */
export const sessionAddresses = (lifetimeSeconds: number): OldAddresses => ({
  ...{ table: 'login_tokens', key: 'jti', seen: 'created_at' },
  by: { kind: 'expiry', column: 'expires', lifetimeSeconds },
});

export const deviceAddresses: OldAddresses = {
  ...{ table: 'trusted_devices', key: 'id', seen: 'last_used_at' },
  by: { kind: 'key' },
};
