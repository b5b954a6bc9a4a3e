import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Database } from '../../../src/platform/database/database';
import { ApplicationSessions } from '../../../src/applications/persistence/application-session.repository';
import type { CurrentSession } from '../../../src/sessions/current-session';
import { UserSessions } from '../../../src/sessions/user-sessions';
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

/** The session of an access token, as the guards of a route hand it on. */
export async function sessionOf({ database }: { readonly database: Database }, access: string) {
  const { sub = '', sid } = decodeJwt(access);
  const user = await database.row<{ version: number }>(
    'SELECT credential_version AS version FROM users WHERE uid = ?',
    [sub],
  );
  return { payload: { sub, sid }, credentialVersion: user!.version } as unknown as CurrentSession;
}

/** The session signs in to the application, as the provider does it when it issues a code. */
export async function signIn(service: TestService, access: string, applicationId: string): Promise<string> {
  const session = await sessionOf(service, access);
  const { sid, sub: userId } = session.payload;
  await service.database.transaction(async (tx) => {
    await service.app.get(UserSessions).hold(tx, session);
    await service.app.get(ApplicationSessions, { strict: false }).begin(tx, { sid, userId }, applicationId);
  });
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
