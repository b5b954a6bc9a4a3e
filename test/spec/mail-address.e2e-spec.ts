import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { operatorAuthority } from '../../src/admin/authority';
import { UserAdministration } from '../../src/admin/user-administration';
import { DemoModule } from '../../src/demo/demo.module';
import { isPlainAddress } from '../../src/shared/mail-address';
import { AccountProblem, type NewUser } from '../../src/users/user-accounts';
import { invite } from '../support/operator';
import { TestService } from '../support/app';
import { MfaClient, mfaSettings } from '../support/mfa';
import { importUsers, userImport } from '../support/import-users';

const good = ['a@example.com', "o'hara+tag@sub.example.com", 'a.b@localhost', `${'a'.repeat(64)}@example.com`];
const bad = [
  'a..b@x.com',
  '.a@x.com',
  'a.@x.com',
  'a@x..com',
  'a@-x.com',
  'a@x_y.com',
  'a@.x.com',
  '(c)a@x.com',
  'a@x.com.',
  // Their keys are longer than the column: NFKC expands the ligature to 18 characters, and lower case the İ to two.
  `${'ﷺ'.repeat(15)}@example.com`,
  `a@${'İ'.repeat(130)}.example`,
];

/** All inputs use one rule: an address that can get mail is accepted, and any other address is refused at once. */
describe('the e-mail address of an account', () => {
  let mfa: MfaClient;
  let service: TestService;
  let directory: string;
  beforeAll(async () => {
    // The demo module provides the services of the command line in addition to the endpoints.
    service = await TestService.start(mfaSettings, { module: (config) => DemoModule.with(config) });
    mfa = new MfaClient(service);
    directory = await mkdtemp(join(tmpdir(), 'mail-address-'));
  });
  afterAll(async () => {
    await service.stop();
    await rm(directory, { recursive: true });
  });

  const imports = () => userImport(service.app);
  let count = 0;
  const user = (email: string): NewUser => ({
    loginName: `address${++count}`,
    email,
    nickname: null,
    passwordHash: null,
    temporary: false,
    status: 1,
    mfaType: 'email',
    provider: 'password',
    isAdmin: false,
    tenantId: 'root',
    orgUnitId: null,
  });
  const taken = async (attempt: Promise<unknown>): Promise<boolean> =>
    attempt.then(
      () => true,
      (error: unknown) => {
        expect(error).toEqual(new AccountProblem('the e-mail address is not valid'));
        return false;
      },
    );

  it.each([...good.map((email) => [email, true] as const), ...bad.map((email) => [email, false] as const)])(
    '%s is accepted by all inputs or by none (%s)',
    async (email, expected) => {
      const created = await taken(service.app.get(UserAdministration).create(operatorAuthority, user(email)));
      const file = join(directory, 'users.jsonl');
      await writeFile(file, JSON.stringify({ login_name: `imported${count}`, email }));
      // Frees the address, so that the import can use it too.
      await service.database.affected('UPDATE users SET email = NULL, email_key = NULL');
      const report = await importUsers(imports(), file);
      const asked = (await service.post('/forget-password', { email })).status !== 400;
      expect({ created, imported: report.created === 1, asked, plain: isPlainAddress(email) }).toEqual({
        created: expected,
        imported: expected,
        asked: expected,
        plain: expected,
      });
      if (!expected) expect(report.failed).toMatchObject([{ row: 1, problem: 'the e-mail address is not valid' }]);
    },
  );

  it.each(good)('nodemailer sends to %s and to nothing else', async (address) => {
    const { envelope } = await createTransport({ jsonTransport: true }).sendMail({
      from: 'no-reply@example.com',
      to: { name: '', address },
      text: 'x',
    });
    expect(envelope.to).toEqual([address]);
  });

  describe('that is invalid but already stored', () => {
    it('a login that needs a code by mail logs a warning and queues no mail', async () => {
      const { uid } = await mfa.givenUser('stored');
      await service.database.affected("UPDATE users SET email = 'a..b@x.com' WHERE uid = ?", [uid]);
      const mails = await service.count('mail_outbox');
      expect((await service.login('stored')).body.data.mfa_required).toBe(true);
      expect(await service.count('mail_outbox')).toBe(mails);
      expect(service.logLines).toContainEqual(
        expect.objectContaining({
          msg: expect.stringContaining('no code was sent: the user has no e-mail address that mail can go to'),
          userId: uid,
        }),
      );
      expect(JSON.stringify(service.logLines)).not.toContain('a..b@');
    });

    it('a request for a reset link is refused with 400, and an invitation reports that it was not mailed', async () => {
      const invited = await mfa.givenUser('invited');
      await service.database.affected("UPDATE users SET email = 'c..d@x.com', email_key = 'c..d@x.com' WHERE uid = ?", [
        invited.uid,
      ]);
      const answer = await service.post('/forget-password', { email: 'c..d@x.com' });
      expect(answer.body).toMatchObject({
        error_code: 'COMMON_400001',
        data: { fields: { email: ['email must be one e-mail address'] } },
      });
      const mails = await service.count('mail_outbox');
      const stored = await service.app.get(UserAdministration).find('invited');
      expect(await invite(service, stored, 'en')).toMatchObject({ mailed: false });
      expect(await service.count('mail_outbox')).toBe(mails);
    });
  });
});
