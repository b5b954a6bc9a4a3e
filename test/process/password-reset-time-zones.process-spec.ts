import { createConnection, type Connection } from 'mysql2/promise';
import { type TestDatabase } from '../support/database';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { patientDatabase, testSettings } from '../support/settings';

/** A link is valid for half an hour, whatever the time zone of a process (docs/spec/attacks.md#t254). */
describe('T254 W48 processes in different time zones on one database', () => {
  const zones = ['Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu', 'UTC'];
  let store: TestDatabase;
  let sql: Connection;
  let services: ServiceProcess[] = [];

  beforeAll(async () => {
    const url = await MariaDbDatabases.shared().migratedDatabase();
    store = { url, drop: () => MariaDbDatabases.shared().drop(url) };
    const env = { ...testSettings, ...patientDatabase, DATABASE_URL: url };
    services = [];
    for (const TZ of zones) services.push(await ServiceProcess.start({ env: { ...env, TZ } }));
    sql = await createConnection({ uri: url, timezone: 'Z', dateStrings: true });
  });
  afterAll(async () => {
    await sql.end();
    await Promise.all(services.map((service) => service.kill()));
    await store.drop();
  });

  it.each(zones.map((zone, n) => [zone, n] as const))(
    'a request made in %s expires 1800 s later for all processes',
    async (zone, n) => {
      const name = zone.replace('/', '-').toLowerCase();
      await sql.query(
        `INSERT INTO users (uid, login_name, login_name_key, email, email_key, status, tenant_id, created_at)
       VALUES (UUID(), ?, ?, ?, ?, 1, 'root', UTC_TIMESTAMP(3))`,
        [name, name, `${name}@example.com`, `${name}@example.com`],
      );
      const asked = Date.now();
      const response = await fetch(`${services[n]?.url}/forget-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${name}@example.com` }),
      });
      const { data } = (await response.json()) as { data: Record<string, string> };
      expect(Date.parse(data.expired!) - Date.parse(data.created_at!)).toBe(1_800_000);
      expect(Date.parse(data.created_at!)).toBeGreaterThanOrEqual(asked - 1000);
      expect(Date.parse(data.created_at!)).toBeLessThanOrEqual(Date.now() + 1000);

      const [rows] = await sql.query(
        `SELECT created_at, expired, TIMESTAMPDIFF(MICROSECOND, created_at, expired) / 1000 AS life
       FROM user_change_password_request WHERE uid = ?`,
        [data.uid],
      );
      const text = (iso: string) => iso.replace('T', ' ').replace('Z', '');
      expect(rows).toEqual([
        { created_at: text(data.created_at!), expired: text(data.expired!), life: '1800000.0000' },
      ]);

      // Replaces the token by a known one, so that each process can be asked for the times that it reads.
      const token = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
      await sql.query(`UPDATE user_change_password_request SET token_hash = uid WHERE token_hash = SHA2(?, 256)`, [
        token,
      ]);
      await sql.query('UPDATE user_change_password_request SET token_hash = SHA2(?, 256) WHERE uid = ?', [
        token,
        data.uid,
      ]);
      for (const service of services) {
        const read = (await (await fetch(`${service.url}/user/change-pwd-req/${token}`)).json()) as { data: object };
        expect(read.data).toEqual({ ...data, login_name: expect.any(String) });
      }
    },
  );
});
