import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Database } from '../../../src/platform/database/database';
import { ApplicationSessions } from '../../../src/applications/application-sessions.repository';
import { timeOf } from '../../../src/platform/database/sql';
import type { TestService } from '../app';

/** A row of `applications`. @returns its id */
export async function givenApplication(
  { database }: { readonly database: Database },
  name: string,
  backchannelLogoutUri: string | null = null,
): Promise<string> {
  const id = randomUUID();
  const at = new Date('2026-03-01T00:00:00Z');
  await database.affected(
    `INSERT INTO applications (id, name, type, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, scopes,
       audience, first_party, allowed_tenants, allowed_groups, enabled, created_at, changed_at)
     VALUES (?, ?, 'web', '[]', '[]', ?, '["openid"]', '[]', 1, '[]', '[]', 1, ?, ?)`,
    [id, name, backchannelLogoutUri, at, at],
  );
  return id;
}

/** The session of the access token signs in to the application, as the provider does it when it issues a code. */
export async function signIn(service: TestService, access: string, applicationId: string): Promise<string> {
  const { sub: userId = '', sid } = decodeJwt<{ sid: string }>(access);
  const sessions = service.app.get(ApplicationSessions, { strict: false });
  if (!(await sessions.begin({ sid, applicationId, userId }))) throw new Error('the session has ended');
  return sid;
}

export interface LogoutRow {
  readonly id: string;
  readonly application_id: string;
  readonly sid: string;
  readonly status: number;
  readonly attempts: number;
  readonly answer: string | null;
}

export const logoutRows = ({ database }: { readonly database: Database }, sid: string): Promise<LogoutRow[]> =>
  database.rows<LogoutRow>('SELECT * FROM application_logouts WHERE sid = ? ORDER BY application_id', [sid]);

/** The times of the rows of a session, for those who look at retries. */
export const nextAttempt = async ({ database }: { readonly database: Database }, sid: string): Promise<Date> => {
  const row = await database.row<{ at: unknown }>(
    'SELECT next_attempt_at AS at FROM application_logouts WHERE sid = ?',
    [sid],
  );
  return timeOf(row!.at);
};
