import { changeType } from '../../shared/change-type';
import type { QueuedMail } from '../outbox/mail-payload';
import { durationText, fill, type MailTexts, mailTextsOf, timeText } from './mail-texts';

export interface Fact {
  readonly label: string;
  readonly value: string;
}

/** What a mail says about the service. */
export interface MailPlace {
  /** The host of the portal. */
  readonly site: string;
  /** The address of the portal without its scheme, so that it is no link. */
  readonly portal: string;
  /** An address or a place for help, without a scheme. */
  readonly support: string | undefined;
}

/** The texts of a mail, from which the HTML and the plain text are made. An undefined part is left out. */
export interface MailContent {
  /** Never contains a code or a link, because it is visible on a locked screen. */
  readonly subject: string;
  readonly greeting?: string;
  readonly lead: string;
  readonly code?: string;
  readonly button?: { readonly label: string; readonly link: string; readonly fallback: string };
  readonly facts?: readonly Fact[];
  readonly paragraphs: readonly string[];
  /** A last paragraph that is less prominent than `paragraphs`. */
  readonly note?: string;
  readonly automatic: string;
}

export function contentOf(mail: QueuedMail, place: MailPlace, now: Date): MailContent {
  const texts = mailTextsOf(mail.language);
  const nickname = oneLine(mail.nickname);
  const { site } = place;
  const { subject, ...parts } = partsOf(mail, texts, place, (text) => fill(text, { site, ...validity(mail, now) }));
  return {
    subject,
    greeting: nickname === undefined ? undefined : fill(texts.greeting, { nickname }),
    ...parts,
    automatic: texts.automatic,
  };
}

/** From this number of recovery codes on, a mail advises to make new ones. */
const fewCodes = 3;

type Parts = Omit<MailContent, 'greeting' | 'automatic'>;

function partsOf(mail: QueuedMail, texts: MailTexts, place: MailPlace, filled: (text: string) => string): Parts {
  switch (mail.kind) {
    case 'otp': {
      const { subject, lead, validity, note } = texts.otp;
      return { subject, lead: filled(lead), code: mail.code, paragraphs: [filled(validity)], note: filled(note) };
    }
    case 'reset-link': {
      const { subject, lead, button, note } = texts[resetTexts[mail.type]];
      return {
        subject,
        lead: filled(lead),
        button: { label: button, link: mail.link, fallback: texts.resetLink.fallback },
        facts: signInFacts(mail, texts, place),
        paragraphs: withPasskeys(mail, texts, [filled(texts.resetLink.validity)]),
        note,
      };
    }
    case 'password-changed': {
      const parts = notice(texts.passwordChanged, mail, texts, filled);
      return { ...parts, paragraphs: withPasskeys(mail, texts, parts.paragraphs) };
    }
    case 'totp-changed':
      return notice(mail.replaced ? texts.totpReplaced : texts.totpAdded, mail, texts, filled);
    case 'recovery-codes-made':
      return notice(texts.recoveryCodesMade, mail, texts, filled);
    case 'recovery-code-used':
      return withLeft(mail.left, notice(texts.recoveryCodeUsed, mail, texts, filled), texts);
    case 'passkey-changed':
      if (mail.by !== undefined) return foreignNotice(texts.passkeyRemoved, mail.by, mail.at, texts, place, filled);
      return notice(mail.added ? texts.passkeyAdded : texts.passkeyRemoved, mail, texts, filled);
    case 'account-changed': {
      const { newEmail } = texts.accountChanged;
      const facts = typeof mail.newEmail === 'string' ? [{ label: newEmail, value: mail.newEmail }] : [];
      return foreignNotice(texts.accountChanged[mail.change], mail.by, mail.at, texts, place, filled, facts);
    }
    case 'password-expires': {
      const { subject, lead, advice } = texts.passwordExpires;
      return { subject, lead: filled(lead), facts: signInFacts(mail, texts, place), paragraphs: [filled(advice)] };
    }
    case 'new-sign-in': {
      const { unknownBrowser } = texts.newSignIn;
      return notice(texts.newSignIn, mail, texts, filled, [
        { label: texts.browser, value: mail.browser ?? unknownBrowser },
      ]);
    }
    case 'test': {
      const { subject, lead } = texts.test;
      return { subject, lead: filled(lead), facts: [{ label: texts.time, value: timeText(mail.at) }], paragraphs: [] };
    }
  }
}

const resetTexts = {
  [changeType.first]: 'firstPassword',
  [changeType.forgotten]: 'forgottenPassword',
  [changeType.expired]: 'expiredPassword',
} as const;

/** A notice contains no link, so that users do not get used to clicking links in security mails. */
function notice(
  { subject, lead }: { subject: string; lead: string },
  { at, ip }: { at: Date; ip: string },
  texts: MailTexts,
  filled: (text: string) => string,
  more: MailContent['facts'] = [],
): Parts {
  return {
    subject,
    lead: filled(lead),
    facts: [{ label: texts.time, value: timeText(at) }, ...more, { label: texts.address, value: ip }],
    paragraphs: [texts.ownAction, texts.foreignAction],
  };
}

/** A notice of what somebody else did. It shows no IP address, because it would be that of an administrator. */
function foreignNotice(
  { subject, lead }: { subject: string; lead: string },
  by: keyof MailTexts['changers'],
  at: Date,
  texts: MailTexts,
  { support }: MailPlace,
  filled: (text: string) => string,
  more: readonly Fact[] = [],
): Parts {
  const facts = [
    ...more,
    { label: texts.changedBy, value: texts.changers[by] },
    { label: texts.time, value: timeText(at) },
  ];
  const advice = support === undefined ? texts.unexpected : fill(texts.unexpectedSupport, { support });
  return { subject, lead: filled(lead), facts, paragraphs: [advice] };
}

/** What the user needs to sign in. A mail that version 1.0.0 queued has no login name. */
function signInFacts({ loginName }: { loginName?: string | null }, texts: MailTexts, { portal }: MailPlace): Fact[] {
  const name = oneLine(loginName);
  return [
    ...(name === undefined ? [] : [{ label: texts.loginName, value: name }]),
    { label: texts.portal, value: portal },
  ];
}

/** A password reset keeps passkeys, and the mail says so (docs/spec/extensions.md#b). */
function withPasskeys({ passkeys }: { passkeys?: boolean }, texts: MailTexts, paragraphs: readonly string[]): string[] {
  return passkeys === true ? [...paragraphs, texts.passkeysStay] : [...paragraphs];
}

/** With few codes left, the owner should make new ones in time. */
function withLeft(left: number, parts: Parts, { recoveryCodeUsed }: MailTexts): Parts {
  return {
    ...parts,
    facts: [{ label: recoveryCodeUsed.left, value: String(left) }, ...(parts.facts ?? [])],
    paragraphs: left > fewCodes ? parts.paragraphs : [recoveryCodeUsed.few, ...parts.paragraphs],
  };
}

function validity(mail: QueuedMail, now: Date): Record<string, string> {
  if (!('expires' in mail)) return {};
  const milliseconds = mail.expires.getTime() - now.getTime();
  return { validFor: durationText(mail.language, milliseconds), validUntil: timeText(mail.expires) };
}

/** A name is free text. On one line it cannot imitate a paragraph of the mail, and it does not turn the text around. */
function oneLine(nickname: string | null | undefined): string | undefined {
  const line = (nickname ?? '').replace(/[\s\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
  return line === '' ? undefined : [...line].slice(0, 64).join('');
}
