import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { password } from '../support/app';
import { importUsers, userImport } from '../support/import-users';
import { MfaClient, pairOf } from '../support/mfa';

const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('user import with the authenticators of another system', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start({ ADMIN_API: 'on' });
  });
  afterAll(() => mfa.stop());

  it('a code of the authenticator finishes the login; the secret is sealed, in no audit row, and a wrong one makes no user', async () => {
    const { service } = mfa;
    const folder = await mkdtemp(join(tmpdir(), 'totp-'));
    const file = join(folder, 'people.jsonl');
    const password_hash = await service.app.get(PasswordHasher).hash(password, { ip: 'test' });
    const row = (login_name: string, totp_secret: string) =>
      JSON.stringify({ ...{ login_name, password_hash, totp_secret }, email: `${login_name}@example.com` });
    const uri = `otpauth://totp/Old:ada?secret=${secret}&issuer=Old`;
    const eight = `${uri}&digits=8`;
    await writeFile(file, [row('ada', uri), row('ben', secret), row('eve', eight)].join('\n'));
    service.secrets.add('a secret of an authenticator', secret);
    const report = await importUsers(userImport(service.app), file);
    await rm(folder, { recursive: true });
    expect(report).toMatchObject({
      created: 2,
      failed: [{ login_name: 'eve', problem: 'totp_secret cannot be used: the codes must have 6 digits' }],
    });

    const { uid } = await mfa.logIn('ada');
    const code = mfa.code(secret);
    pairOf(await mfa.verify(uid, 'totp', code));
    expect((await service.login('ada')).body.data.mfa_type).toBe('totp');
    expect((await mfa.verify(uid, 'totp', code)).status).toBe(401);
    const stored = await service.userRow(uid);
    expect(stored.mfa_type).toBe('totp');
    expect(JSON.stringify([stored, await service.database.rows('SELECT * FROM totp_secrets')])).not.toContain(secret);
    const audited = "SELECT detail FROM audit_logs WHERE event = 'USER_IMPORTED'";
    expect(await service.database.rows(audited)).toEqual([1, 2].map(() => ({ detail: '{"totp":true}' })));
  });
});
