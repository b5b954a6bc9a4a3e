import { KeyRing } from '../platform/crypto/key-ring';
import type { Transaction } from '../platform/database/database';
import { SystemRandom } from '../shared/random';
import { FakeClock } from '../../test/support/fakes';
import { Mailer } from './mailer';
import { openMail } from './outbox/mail-payload';
import type { MailWorker } from './outbox/mail-worker';
import type { NewMail, OutboxRows } from './outbox/outbox-mail.repository';

const keys = new KeyRing({ dataKeys: [Buffer.alloc(32, 1)] }, new SystemRandom());
const clock = new FakeClock();
const systemUrl = 'https://portal.example.com';
const tx = undefined as unknown as Transaction;

/** What is stored when this user causes each kind of mail, and the caller also hands over the nickname. */
async function stored(loginName: string) {
  const rows: NewMail[] = [];
  const insert = (_: Transaction, mail: NewMail) => Promise.resolve(void rows.push(mail));
  const mailer = new Mailer(
    { insert } as unknown as OutboxRows,
    { nudge: () => undefined } as unknown as MailWorker,
    keys,
    clock,
    { systemUrl, production: true, dataDir: '' },
  );
  const user = { uid: 'u', loginName, email: 'ann@example.com', language: 'en', nickname: 'Win at evil.test' } as const;
  const to = { ...user, userId: 'u', to: 'ann@example.com' };
  const expires = clock.secondsFromNow(300);
  const notice = { ...to, ip: '203.0.113.7', at: clock.now() };
  await mailer.queueOtp(tx, { ...to, code: '048213', expires });
  await mailer.queueResetLink(tx, { ...to, link: `${systemUrl}/reset-password`, type: 2, expires });
  await mailer.queuePasswordChanged(tx, notice);
  await mailer.queueTotpChanged(tx, { ...notice, replaced: false });
  await mailer.queueRecoveryCodesMade(tx, notice);
  await mailer.queueRecoveryCodeUsed(tx, { ...notice, left: 3 });
  await mailer.queuePasskeyChanged(tx, { ...notice, added: true });
  await mailer.queuePasswordExpires(tx, { ...to, expires });
  await mailer.queueNewSignIn(tx, { ...notice, browser: undefined });
  await mailer.queueAccountChanged(tx, user, { change: 'disabled', by: 'administrator' });
  await mailer.queueEmailChanged(tx, user, 'new@example.com', { by: 'administrator' });
  return rows.map(({ payload }) => openMail(keys, payload));
}

describe('the name in a mail', () => {
  it('is the login name, whatever the caller hands over: a nickname is any text to a stranger (T773)', async () => {
    const mails = await stored('ann.smith');
    expect(new Set(mails.map(({ kind }) => kind)).size).toBe(10);
    for (const { nickname, loginName } of mails) {
      expect({ nickname, loginName }).toEqual({ nickname: 'ann.smith', loginName: 'ann.smith' });
    }
  });

  it.each(['Win a prize', 'www.evil.test', 'https://evil.test', 'a'.repeat(65)])(
    'is left out when the login name is no single word, or looks like an address of the web: %s (T773)',
    async (name) => {
      for (const { nickname, loginName } of await stored(name)) {
        expect({ nickname, loginName }).toEqual({ nickname: null, loginName: null });
      }
    },
  );
});
