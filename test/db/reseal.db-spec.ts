import { DataSource } from 'typeorm';
import { censusOfAll, resealAll } from '../../src/cli/sealed-values';
import { sealedColumns } from '../../src/health/sealed-columns';
import { OidcRecords } from '../../src/applications/persistence/oidc-record.repository';
import { EventReceivers } from '../../src/events/event-receivers';
import { sealSmtpSecret } from '../../src/mail/smtp-secret';
import { TotpSecrets } from '../../src/mfa/persistence/totp-secret.repository';
import { SealedTotp } from '../../src/mfa/totp/sealed-totp';
import { isSealed, KeyRing } from '../../src/platform/crypto/key-ring';
import { batchRows, resealColumn, type SealedColumn } from '../../src/platform/crypto/resealing';
import { Database, type Transaction } from '../../src/platform/database/database';
import { SystemRandom } from '../../src/shared/random';
import { SecondFactor } from '../../src/users/second-factor';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { resetSecondFactor } from '../support/operator';
import { TestService } from '../support/app';
import { authenticatorCode, MfaClient, mfaSettings, pairOf } from '../support/mfa';
import { givenIdentityProvider } from '../support/identity-providers';
import { settings } from '../support/captcha/harness';
import { webhookSecret } from '../support/events/webhook-receiver';
import { dataKey } from '../support/settings';

const [first, former] = [dataKey(1), dataKey(2)];
const ring = (...keys: string[]) => new KeyRing(settings({ DATA_ENCRYPTION_KEY: keys.join(',') }), new SystemRandom());
const [both, gone, backwards] = [ring(first, former), ring(first), ring(former, first)];

const columnOf = (name: string): SealedColumn =>
  sealedColumns.find(({ table, column }) => `${table}.${column}` === name)!;

describe('keys reseal', () => {
  let mfa: MfaClient;
  let database: Database;
  beforeAll(async () => {
    mfa = await MfaClient.start({ DATA_ENCRYPTION_KEY: `${first},${former}` });
    database = mfa.service.database;
  });
  afterAll(() => mfa.stop());
  beforeEach(async () => {
    const tables = [
      ...['users', 'totp_secrets', 'pending_logins', 'system_configs', 'mail_outbox', 'oidc_records'],
      ...['identity_providers', 'event_receivers'],
    ];
    for (const table of tables) {
      await database.affected(`DELETE FROM ${table}`);
    }
  });

  /** Seals everything with the former key: the state before the rotation. */
  const age = () => resealAll(database, backwards);
  const reseal = () => resealAll(database, both);
  const left = async () => (await censusOfAll(database, both)).former;
  const nothing = Object.fromEntries(sealedColumns.map(({ table, column }) => [`${table}.${column}`, 0]));

  async function setSmtpSecret(secret: string, tenant = 'root'): Promise<void> {
    await database.transaction(async (tx) => {
      await tx.affected(`DELETE FROM system_configs WHERE tenant_id = ? AND \`key\` = 'SECRET'`, [tenant]);
      await tx.affected('INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES (?, ?, ?, ?)', [
        tenant,
        'SMTP',
        'SECRET',
        secret,
      ]);
    });
  }

  async function givenRecord(): Promise<void> {
    const records = mfa.service.app.get(OidcRecords, { strict: false });
    const id = new SystemRandom().uuid();
    await records.put('Grant', id, { kind: 'Grant', jti: id }, { expires: mfa.service.clock.secondsFromNow(3600) });
  }

  /** With a former secret that still signs. */
  async function givenEventReceiver(): Promise<void> {
    const receivers = mfa.service.app.get(EventReceivers, { strict: false });
    const kept = { types: [], tenants: [], audience: null, enabled: true, position: 0 };
    const receiver = {
      ...kept,
      id: 'siem',
      url: 'https://siem.example',
      format: 'native',
      secret: webhookSecret,
    } as const;
    await database.transaction((tx) => receivers.insert(tx, receiver));
    const { receiver: read } = (await receivers.find('siem'))!;
    const until = mfa.service.clock.secondsFromNow(3600);
    expect(await database.transaction((tx) => receivers.rotateSecret(tx, read, webhookSecret, until))).toBe(true);
  }

  /** One sealed value of every kind: authenticator, open enrolment, passwords of mail server and provider, mail, grant, receiver. */
  async function givenSealed(name: string): Promise<{ user: User; secret: string; access: string; opened: string }> {
    const { user, secret } = await mfa.givenAuthenticator(name);
    const other = await mfa.givenUser(`${name}-enrols`);
    const { access } = await mfa.session(other);
    const { secret: opened } = await mfa.newSecret(access);
    await setSmtpSecret(sealSmtpSecret(both, 'the mail password'));
    await givenRecord();
    await givenIdentityProvider(mfa.service);
    await givenEventReceiver();
    await age();
    return { user, secret, access, opened };
  }

  it('the list of encrypted columns is complete: no other column of any table is encrypted', async () => {
    await givenSealed('complete');
    const found = await sealedAnywhere(mfa.service);
    expect(found).toEqual(Object.keys(nothing).sort());
  });

  it('a plain-text password is kept, and a value that no key decrypts is counted and kept', async () => {
    await setSmtpSecret('v1.a plain password');
    await setSmtpSecret(ring(dataKey(3)).seal('smtp-secret', 'lost'), 'acme');
    const rows = () => database.rows<{ value: string }>('SELECT value FROM system_configs ORDER BY tenant_id');
    const before = await rows();
    expect(await reseal()).toEqual(nothing);
    expect(await rows()).toEqual(before);
    expect(await censusOfAll(database, both)).toEqual({ former: 0, unreadable: 1 });
  });

  describe('a concurrent write between the read and the write of a value wins', () => {
    const value = async (name: string, id: string): Promise<string | null> => {
      const { table, key, column } = columnOf(name);
      const where = `${key} = ?`;
      return (await database.row<{ v: string | null }>(`SELECT ${column} AS v FROM ${table} WHERE ${where}`, [id]))!.v;
    };

    it('a new enrolment', async () => {
      const { access, opened } = await givenSealed('reenrols');
      let replaced = '';
      const renew = async () => {
        replaced = (await mfa.newSecret(access)).secret;
      };
      const enrolling = (await mfa.service.app.get(UsersRepository).findByLoginName('reenrols-enrols'))!;
      const count = await resealColumn(beside(database, renew), both, columnOf('totp_secrets.secret'));
      expect(count).toBe(1);
      expect(replaced).not.toBe(opened);
      const kept = (await value('totp_secrets.secret', enrolling.uid))!;
      expect(gone.open('totp-secret', kept)).toBe(replaced);
    });

    it('the confirmation of an enrolment that was opened under the former key: it seals the active secret with the new key', async () => {
      const { access, opened } = await givenSealed('confirms');
      const user = (await mfa.service.app.get(UsersRepository).findByLoginName('confirms-enrols'))!;
      const confirm = async () => {
        pairOf(await mfa.verify(user.uid, 'totp', mfa.code(opened), {}, { bearer: access }));
      };
      await resealColumn(beside(database, confirm), both, columnOf('users.topt_secret'));
      expect(gone.open('totp-secret', (await value('users.topt_secret', user.uid))!)).toBe(opened);
    });

    it('user reset-totp', async () => {
      const { user } = await givenSealed('resets');
      const count = await resealColumn(
        beside(database, () => resetSecondFactor(mfa.service, user)),
        both,
        columnOf('users.topt_secret'),
      );
      expect(count).toBe(0);
      expect(await value('users.topt_secret', user.uid)).toBeNull();
    });

    it('config set SMTP SECRET', async () => {
      await givenSealed('config');
      const set = () => setSmtpSecret(sealSmtpSecret(both, 'the new password'));
      expect(await resealColumn(beside(database, set), both, columnOf('system_configs.value'))).toBe(0);
      expect(gone.open('smtp-secret', (await value('system_configs.value', 'root'))!)).toBe('the new password');
    });

    it('the sending of a mail: its content stays removed', async () => {
      await givenSealed('mails');
      const send = async () => {
        await database.affected('UPDATE mail_outbox SET status = 1, payload = NULL');
      };
      expect(await resealColumn(beside(database, send), both, columnOf('mail_outbox.payload'))).toBe(0);
      expect(await mfa.service.count('mail_outbox', 'payload IS NOT NULL')).toBe(0);
    });

    it('another keys reseal: each value is counted once, and no value of the former key is left', async () => {
      await givenSealed('twice');
      const before = await left();
      const counts = await Promise.all([reseal(), reseal(), reseal()]);
      const all = counts.flatMap((count) => Object.values(count));
      expect(all.reduce((sum, n) => sum + n)).toBe(before);
      expect(await censusOfAll(database, gone)).toEqual({ former: 0, unreadable: 0 });
    });
  });

  describe('a request that has read the value before it was encrypted again still succeeds', () => {
    it('a login that read the active secret before keys reseal gets its code accepted afterwards', async () => {
      const { user } = await givenSealed('accepts');
      const [read, factor] = [(await userOf(mfa, user))!, mfa.service.app.get(SecondFactor)];
      await reseal();
      expect((await userOf(mfa, user))!.totpSecret).not.toBe(read.totpSecret);
      for (const write of ['acceptCode', 'hold'] as const) {
        expect(await database.transaction((tx) => factor[write](tx, read))).toBe(true);
      }
    });

    it('an enrolment that was read before keys reseal is shown and confirmed afterwards', async () => {
      await givenSealed('shows');
      const user = (await mfa.service.app.get(UsersRepository).findByLoginName('shows-enrols'))!;
      const [rows, sealed] = [mfa.service.app.get(TotpSecrets), mfa.service.app.get(SealedTotp)];
      const row = (await rows.find(user.uid))!;
      await reseal();
      expect(await rows.countFetch(row)).toBe(true);
      expect(await rows.reserveAttempt(row)).toBe('granted');
      const factor = mfa.service.app.get(SecondFactor);
      await database.transaction(async (tx) => {
        expect(await factor.activateSecret(tx, user, sealed.renewed(row.secret))).toBe(true);
        expect(await rows.confirm(tx, row, 1)).toBe(true);
      });
      expect(await left()).toBe(0);
    });

    it('20 users confirm their enrolments during two parallel keys reseal: all succeed, and a last run leaves no former key', async () => {
      const people: { user: User; access: string; secret: string }[] = [];
      for (let n = 0; n < 20; n++) {
        const user = await mfa.givenUser(`racer${n}`);
        const { uid } = await mfa.logIn(user.loginName);
        const { access } = pairOf(await mfa.verify(uid, 'email', await mfa.lastCode(user)));
        people.push({ user, access, secret: (await mfa.newSecret(access)).secret });
      }
      await age();
      const confirm = ({ user, access, secret }: (typeof people)[number]) =>
        mfa.verify(user.uid, 'totp', authenticatorCode(secret, mfa.now), {}, { bearer: access });
      const [answers] = await Promise.all([Promise.all(people.map(confirm)), reseal(), reseal()]);
      expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200));
      await reseal();
      expect(await censusOfAll(database, gone)).toEqual({ former: 0, unreadable: 0 });
    });
  });

  it('a large table is read and written in batches', async () => {
    const count = 2 * batchRows + 1;
    const statement = `INSERT INTO mail_outbox (id, kind, payload, next_attempt_at, expires, created_at) VALUES `;
    // The mails are not due, so the worker does not send them during the test.
    const later = mfa.service.clock.secondsFromNow(3600);
    const rows = Array.from({ length: count }, (_, n) => [
      `mail-${n}`,
      'otp',
      backwards.seal('mail', '{}'),
      later,
      later,
      later,
    ]);
    for (const part of [rows.slice(0, batchRows), rows.slice(batchRows)]) {
      await database.affected(statement + part.map(() => '(?, ?, ?, ?, ?, ?)').join(', '), part.flat());
    }
    const units: number[] = [];
    const watched = beside(
      database,
      () => Promise.resolve(units.push(0)),
      () => units[units.length - 1]!++,
    );
    expect(await resealColumn(watched, both, columnOf('mail_outbox.payload'))).toBe(count);
    expect(Math.max(...units)).toBe(100);
    expect(units.reduce((sum, n) => sum + n)).toBe(count);
    expect(await left()).toBe(0);
  });

  // This test must be the last one: Passport has one strategy per process, and the second application replaces it.
  it('afterwards the first key alone decrypts everything, and a second run has nothing to do', async () => {
    const { user, secret, access, opened } = await givenSealed('alice');
    await setSmtpSecret(ring(former).seal('smtp-secret', 'of another tenant'), 'acme');
    const before = await left();
    expect(before).toBeGreaterThan(sealedColumns.length);
    expect((await censusOfAll(database, gone)).unreadable).toBe(before);

    const resealed = await reseal();
    expect(Object.values(resealed).reduce((sum, n) => sum + n)).toBe(before);
    expect(Object.values(resealed).filter((n) => n === 0)).toEqual([]);
    expect(await censusOfAll(database, gone)).toEqual({ former: 0, unreadable: 0 });
    expect(await reseal()).toEqual(nothing);

    const { clock, store } = mfa.service;
    const after = new MfaClient(
      await TestService.start({ ...mfaSettings, DATA_ENCRYPTION_KEY: first }, { clock, store }),
    );
    try {
      const { uid } = await after.logIn('alice');
      expect((await after.verify(uid, 'totp', after.code(secret))).status).toBe(200);
      const enrolling = (await after.service.app.get(UsersRepository).findByLoginName('alice-enrols'))!;
      const code = after.code(opened);
      expect((await after.verify(enrolling.uid, 'totp', code, {}, { bearer: access })).status).toBe(200);
      expect(user.uid).toBe(uid);
    } finally {
      await after.service.stop({ keepStore: true });
    }
  });
});

const userOf = (mfa: MfaClient, { uid }: User) => mfa.service.app.get(UsersRepository).findByUid(uid);

/** Returns the same database, except that `interfere` runs before each transaction, after the values were read. */
function beside(database: Database, interfere: () => Promise<unknown>, onWrite?: () => void): Database {
  return Object.assign(Object.create(database) as Database, {
    transaction: async <T>(work: (tx: Transaction) => Promise<T>) => {
      await interfere();
      return database.transaction((tx) => {
        const won: Transaction['won'] = (...statement) => {
          onWrite?.();
          return tx.won(...statement);
        };
        return work(Object.assign(Object.create(tx) as Transaction, { won }));
      });
    },
  });
}

/** Returns the `table.column` of every sealed value in any table. */
async function sealedAnywhere(service: TestService): Promise<string[]> {
  const runner = service.app.get(DataSource).createQueryRunner();
  try {
    const names: { name: string }[] = await runner.query(
      __DATABASE__ === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
    );
    const found = new Set<string>();
    for (const { name } of names) {
      for (const row of await service.database.rows<Record<string, unknown>>(`SELECT * FROM ${name}`)) {
        for (const [column, value] of Object.entries(row)) {
          if (typeof value === 'string' && isSealed(value)) found.add(`${name}.${column}`);
        }
      }
    }
    return [...found].sort();
  } finally {
    await runner.release();
  }
}
