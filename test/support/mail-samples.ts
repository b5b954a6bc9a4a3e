import en from '../../src/shared/languages/en.json';
import type { AccountChange, QueuedMail } from '../../src/mail/outbox/mail-payload';

export type SampleMail = Partial<QueuedMail> & { readonly kind: QueuedMail['kind'] };

export const sampleLink = 'https://portal.example.com/reset-password?uid=1c7ab0a4&lang=en';
export const sampleCode = '048213';
export const sampleTime = new Date('2026-03-02T10:00:00Z');
export const afterSampleTime = (seconds: number) => new Date(sampleTime.getTime() + seconds * 1000);

export const accountChanges = Object.keys(en.mail.accountChanged).filter(
  (key) => key !== 'newEmail',
) as AccountChange[];

const notice = { ip: '203.0.113.7', at: sampleTime } as const;
const loginName = 'alice.smith@example.com';

/** A mail of each kind and each text, without its recipient. Those from the fifth one on are notices, which contain no link. */
export const mailSamples: readonly (readonly [string, SampleMail])[] = [
  ['otp', { kind: 'otp', code: sampleCode, expires: afterSampleTime(300) }],
  ...([0, 2, 3] as const).map(
    (type) =>
      [
        `reset-link of type ${type}`,
        { kind: 'reset-link', type, link: sampleLink, loginName, expires: afterSampleTime(1800) },
      ] as const,
  ),
  ['password-changed', { kind: 'password-changed', ...notice }],
  ['totp-changed, first', { kind: 'totp-changed', ...notice, replaced: false }],
  ['totp-changed, replaced', { kind: 'totp-changed', ...notice, replaced: true }],
  ['recovery-codes-made', { kind: 'recovery-codes-made', ...notice }],
  ['recovery-code-used', { kind: 'recovery-code-used', ...notice, left: 0 }],
  ['passkey-changed, added', { kind: 'passkey-changed', ...notice, added: true }],
  ['passkey-changed, removed', { kind: 'passkey-changed', ...notice, added: false }],
  ['password-expires', { kind: 'password-expires', loginName, expires: afterSampleTime(14 * 86_400) }],
  ['new-sign-in', { kind: 'new-sign-in', ...notice, browser: 'Firefox, Windows' }],
  ...accountChanges.map((change) => {
    const newEmail = change === 'email' ? { newEmail: 'a•••@new.example.com' } : {};
    return [
      `account-changed, ${change}`,
      { kind: 'account-changed', change, by: 'administrator', at: sampleTime, ...newEmail },
    ] as const;
  }),
];

export function sampleMail(mail: SampleMail, language: string, nickname: string | null = 'Alice'): QueuedMail {
  return { to: 'alice@example.com', language, nickname, ...mail } as QueuedMail;
}
