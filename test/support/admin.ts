import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DynamicModule, RequestMethod, type Type } from '@nestjs/common';
import { AdminApplicationsModule } from '../../src/admin/admin-applications.module';
import { AdminEventReceiversModule } from '../../src/admin/admin-event-receivers.module';
import { AdminModule } from '../../src/admin/admin.module';
import type { AppConfig } from '../../src/settings/app-config';
import { SessionOpener } from '../../src/sessions/session-opener';
import type { NewUser } from '../../src/users/user-accounts';
import type { User } from '../../src/users/user.entity';
import { TestService } from './app';

/** A service with the administration, and the tenants `acme` and `other` beside `root`. */
export async function startAdministration(
  settings: Record<string, string> = {},
  module?: (config: AppConfig) => DynamicModule,
): Promise<TestService> {
  const service = await TestService.start({ ADMIN_API: 'on', ...settings }, { module });
  for (const id of ['acme', 'other']) await givenTenant(service, id);
  return service;
}

export async function givenTenant({ database, clock }: TestService, id: string): Promise<void> {
  await database.affected('INSERT INTO tenants (id, name, created_at) VALUES (?, ?, ?)', [id, id, clock.now()]);
}

const client = { ip: '192.0.2.1', userAgent: 'jest', language: 'en', requestId: 'test-request' } as const;

type Factor = 'totp' | 'device' | 'passkey' | null;

/** The access token of a new session. Opening it here needs no bcrypt. @param mfa the factor of the session */
export async function tokenOf(service: TestService, user: User, mfa: Factor = 'totp') {
  const signal = new AbortController().signal;
  return (await service.app.get(SessionOpener).open(user, { ...client, signal }, mfa)).accessToken;
}

let made = 0;

/** A user without a password, and with an access token by a second factor. */
export async function givenCaller(service: TestService, more: Partial<NewUser> = {}, mfa?: Factor) {
  const user = await service.givenUser(`caller-${++made}`, { password: null, ...more });
  return { user, bearer: await tokenOf(service, user, mfa) };
}

/** A passkey that no authenticator has. @returns its id */
export async function givenPasskeyRow({ database, clock }: TestService, uid: string, name = 'Phone'): Promise<string> {
  const id = randomUUID();
  await database.affected(
    `INSERT INTO passkeys (id, user_id, credential_hash, credential_id, public_key, counter, transports, name,
     backup_eligible, backed_up, created_at) VALUES (?, ?, ?, 'x', 'x', 0, '', ?, 1, 1, ?)`,
    [id, uid, id, name, clock.now()],
  );
  await database.affected('UPDATE users SET own_factors = 1 WHERE uid = ?', [uid]);
  return id;
}

/** A device on which no browser is. @returns its id */
export async function givenDeviceRow({ database, clock }: TestService, uid: string): Promise<string> {
  const id = randomUUID();
  const [now, end] = [clock.now(), clock.secondsFromNow(3600)];
  await database.affected(
    `INSERT INTO trusted_devices (id, user_id, credential_version, series_hash, token_hash, ip, user_agent,
     created_at, last_used_at, expires) SELECT ?, uid, credential_version, ?, ?, '192.0.2.1', 'jest', ?, ?, ?
     FROM users WHERE uid = ?`,
    [id, id, id, now, now, end, uid],
  );
  return id;
}

/** The routes of all controllers of the administration, for example `PATCH /admin/users/:uid`. */
export function adminRoutes(): string[] {
  const controllers = [AdminModule, AdminApplicationsModule, AdminEventReceiversModule].flatMap(
    (module) => Reflect.getMetadata('controllers', module) as Type<unknown>[],
  );
  return controllers.flatMap((controller) => {
    const prototype = controller.prototype as Record<string, unknown>;
    const base = Reflect.getMetadata('path', controller) as string;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const path = Reflect.getMetadata('path', prototype[name] as object) as string | undefined;
      const method = RequestMethod[Reflect.getMetadata('method', prototype[name] as object) as number];
      return path === undefined || name === 'constructor' ? [] : [`${method} /${base}/${path}`];
    });
  });
}

/** The table of docs/operations/administration.md#access: for each route the answer to each caller. */
export function accessTable(): Record<string, Record<string, string>> {
  const page = readFileSync(join(__dirname, '../../docs/operations/administration.md'), 'utf8');
  const lines = page.slice(page.indexOf('<a id="access">')).split('\n');
  const begin = lines.findIndex((line) => line.startsWith('| Route'));
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const end = lines.findIndex((line, i) => i > begin && !line.startsWith('|'));
  const [head = [], , ...rows] = lines.slice(begin, end).map(cells);
  return Object.fromEntries(
    rows.map(([route = '', ...answers]) => [
      route,
      Object.fromEntries(answers.map((answer, i) => [head[i + 1] ?? '', answer])),
    ]),
  );
}
