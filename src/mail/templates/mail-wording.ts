import type { Language } from '../../shared/languages';
import type { QueuedMail } from '../outbox/mail-payload';

/** Texts outside the templates. Subjects never contain a code, because they are visible on a locked screen. */
interface Wording {
  readonly otp: string;
  readonly resetLink: Readonly<Record<0 | 2 | 3, string>>;
  readonly passwordChanged: string;
  readonly totpAdded: string;
  readonly totpReplaced: string;
  readonly automatic: string;
  minutes(count: number): string;
  hours(count: number): string;
  days(count: number): string;
}

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

export const wordings: Readonly<Record<Language, Wording>> = {
  en: {
    otp: 'Your verification code',
    resetLink: { 0: 'Set your password', 2: 'Reset your password', 3: 'Your password has expired' },
    passwordChanged: 'Your password was changed',
    totpAdded: 'An authenticator app was added to your account',
    totpReplaced: 'Your authenticator app was replaced',
    automatic: 'This message was sent automatically. Please do not reply to it.',
    minutes: (count) => counted(count, 'minute'),
    hours: (count) => counted(count, 'hour'),
    days: (count) => counted(count, 'day'),
  },
  'zh-CN': {
    otp: '您的验证码',
    resetLink: { 0: '设置您的密码', 2: '重置您的密码', 3: '您的密码已过期' },
    passwordChanged: '您的密码已被更改',
    totpAdded: '您的账户已绑定身份验证器应用',
    totpReplaced: '您的身份验证器应用已更换',
    automatic: '此邮件由系统自动发送，请勿回复。',
    minutes: (count) => `${count} 分钟`,
    hours: (count) => `${count} 小时`,
    days: (count) => `${count} 天`,
  },
};

export function subjectOf(mail: QueuedMail): string {
  const words = wordings[mail.language];
  switch (mail.kind) {
    case 'otp':
      return words.otp;
    case 'reset-link':
      return words.resetLink[mail.type];
    case 'password-changed':
      return words.passwordChanged;
    case 'totp-changed':
      return mail.replaced ? words.totpReplaced : words.totpAdded;
  }
}

/** The remaining time, rounded: minutes below two hours, hours below two days, then days. */
export function durationText(language: Language, milliseconds: number): string {
  const words = wordings[language];
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  if (minutes < 120) return words.minutes(minutes);
  const hours = Math.round(minutes / 60);
  return hours < 48 ? words.hours(hours) : words.days(Math.round(hours / 24));
}

/** For example `2025-10-09 14:30 UTC`. The time zone of the reader is unknown, so the text names the zone. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
