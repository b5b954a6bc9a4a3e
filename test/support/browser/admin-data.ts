import { randomUUID } from 'node:crypto';
import { eventStatus } from '../../../src/events/outbox/outbox-event.entity';
import { mailStatus } from '../../../src/mail/mail-status';
import { identityKey } from '../../../src/shared/identity-key';
import type { SqlValue } from '../../../src/platform/database/sql';
import type { TestService } from '../app';

/** The console without a second factor, as the demo has it. */
export const adminSettings = { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false' };

/** The tests copy the session of one browser into others. A session that is bound to a key of its browser ends there. */
export const copiedSessions = { TOKEN_BINDING: 'off' };

const first = ['Amelia', 'Ben', 'Chen', 'Dana', 'Elif', 'Farid', 'Greta', 'Hana', 'Ivan', 'Jonas', 'Katarína', 'Li'];
const last = ['Abbott', 'Berger', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'García', 'Huang', 'Ito', 'Jansen'];
const tenants = { acme: 'Acme Corporation', globex: 'Globex', initech: 'Initech GmbH' };
const browsers = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
];
const outcomes = ['LOGIN_401001', 'LOGIN_401001', 'MFA_401001', 'LOGIN_401004', 'LOGIN_401011'];
const events = ['USER_CREATED', 'USER_INVITED', 'USER_PASSWORD_CHANGED', 'TOTP_ENROLLED', 'USER_STATUS_CHANGED'];
const kinds = ['otp', 'reset-link', 'password-changed', 'new-sign-in'];

/** Three tenants with units, 240 users, and a day of logs and mails, as an installation has them. */
export async function seedInstallation(service: TestService): Promise<void> {
  const at = (seconds: number): Date => service.clock.secondsFromNow(-seconds);
  const insert = async (table: string, rows: Record<string, SqlValue | undefined>[]): Promise<void> => {
    const columns = Object.keys(rows[0]!);
    const values = rows.map(() => `(${columns.map(() => '?').join()})`).join();
    await service.database.affected(
      `INSERT INTO ${table} (${columns.join()}) VALUES ${values}`,
      rows.flatMap((row) => columns.map((name) => row[name] ?? null)),
    );
  };
  const ids = Object.keys(tenants);
  await insert(
    'tenants',
    Object.entries(tenants).map(([id, name]) => ({ id, name, created_at: at(8_000_000) })),
  );
  await insert(
    'org_units',
    ids.flatMap((tenant_id) =>
      ['Sales', 'Engineering'].map((name) => ({ id: `${tenant_id}-${name.toLowerCase()}`, tenant_id, name })),
    ),
  );
  const users = Array.from({ length: 240 }, (_, index) => {
    const given = first[index % first.length]!;
    const family = last[Math.floor(index / first.length) % last.length]!;
    const plain = `${given}.${family}`.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
    const login_name = index < 120 ? plain : `${plain}${Math.floor(index / 120) + 1}`;
    const email = `${login_name}@example.com`;
    return {
      uid: randomUUID(),
      login_name,
      login_name_key: identityKey(login_name),
      email,
      email_key: identityKey(email),
      nickname: `${given} ${family}`,
      status: index % 29 === 7 ? -1 : index % 37 === 5 ? 0 : 1,
      login_failed_count: index % 41 === 3 ? 5 : 0,
      last_login_failed_time: index % 41 === 3 ? at(60) : null,
      last_login_success_time: index % 17 === 4 ? null : at(index * 3700 + 90),
      tenant_id: ['root', ...ids][index % 4],
      provider: index % 13 === 6 ? 'ldap' : 'password',
      created_at: at(5_000_000 - index * 1000),
    };
  });
  for (let start = 0; start < users.length; start += 60) await insert('users', users.slice(start, start + 60));
  const client = (index: number) => ({
    ip: `203.0.113.${(index * 7) % 40}`,
    user_agent: browsers[index % browsers.length],
    request_id: randomUUID(),
  });
  // Busy by day, quiet by night.
  const logins = Array.from({ length: 24 }, (_, hour) => hour).flatMap((hour) =>
    Array.from({ length: Math.round(4 + 14 * Math.sin((hour / 24) * Math.PI) ** 2) + (hour % 3) }, (_, one) => {
      const index = hour * 31 + one;
      const user = users[index % users.length]!;
      return {
        user_id: user.uid,
        login_name: user.login_name,
        provider: user.provider,
        outcome: index % 6 === 4 || hour === 15 ? outcomes[index % outcomes.length] : 'success',
        mfa: index % 4 === 0 ? 'totp' : null,
        created_at: at(hour * 3600 + one * 120 + 30),
        ...client(index),
      };
    }),
  );
  for (let start = 0; start < logins.length; start += 80) await insert('login_logs', logins.slice(start, start + 80));
  await insert(
    'audit_logs',
    Array.from({ length: 70 }, (_, index) => ({
      event: events[index % events.length],
      user_id: users[(index * 11) % users.length]!.uid,
      actor_id: index % 4 === 1 ? 'operator' : null,
      detail: events[index % events.length] === 'USER_STATUS_CHANGED' ? '{"from":1,"to":-1}' : '{}',
      created_at: at(index * 1500 + 40),
      ...client(index),
      ...(index % 4 === 1 && { ip: null, user_agent: null }),
    })),
  );
  await insert(
    'mail_outbox',
    Array.from({ length: 60 }, (_, index) => ({
      id: randomUUID(),
      kind: kinds[index % kinds.length],
      payload: index % 12 === 5 ? 'sealed' : null,
      status: index % 12 === 5 ? mailStatus.dead : index % 19 === 7 ? mailStatus.expired : mailStatus.sent,
      attempts: index % 12 === 5 ? 8 : 1,
      next_attempt_at: at(index * 900),
      expires: at(index * 900 - 86_400),
      created_at: at(index * 900 + 20),
    })),
  );
  await insert(
    'event_outbox',
    Array.from({ length: 40 }, (_, index) => ({
      event_id: randomUUID(),
      type: ['login.succeeded', 'user.password_changed', 'session.closed'][index % 3],
      stream: users[(index * 7) % users.length]!.uid,
      payload: '{"type":"user.password_changed","timestamp":"2026-03-02T10:00:00.000Z","data":{}}',
      status: index % 9 === 4 ? eventStatus.dead : eventStatus.sent,
      fresh: 0,
      created_at: at(index * 1800 + 30),
      sent_at: index % 9 === 4 ? null : at(index * 1800 + 29),
    })),
  );
}
