import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailerService } from '@nestjs-modules/mailer';
import { createTransport } from 'nodemailer';
import PostalMime, { type Email } from 'postal-mime';
import {
  afterSampleTime as inSeconds,
  mailSamples,
  sampleCode as code,
  sampleLink as link,
  sampleMail as mailOf,
  type SampleMail,
  sampleTime as now,
} from '../../../test/support/mail-samples';
import type { ServiceSettings } from '../../platform/config/service-settings';
import type { AppConfig } from '../../settings/app-config';
import type { BrandSettings } from '../brand-settings';
import { languages, textsOf } from '../../shared/languages';
import type { QueuedMail } from '../outbox/mail-payload';
import { largestLogoBytes } from './mail-logo';
import { htmlTemplates, MailTemplates } from './mail-templates';

const templatesOf = (brand: Partial<AppConfig['brand']>) =>
  new MailTemplates({ systemUrl: 'https://portal.example.com/' } as ServiceSettings, brand as BrandSettings);
const templates = templatesOf({ color: '#2457c5' });
const mailer = new MailerService(
  {
    transports: { file: { streamTransport: true, buffer: true } as object },
    template: htmlTemplates,
  },
  { createTransport: (options) => createTransport(options as object) },
);

/** Renders the mail and parses it as a mail program does. */
async function read(
  mail: QueuedMail,
  by = templates,
): Promise<Email & { html: string; text: string; subject: string }> {
  const sent = (await mailer.sendMail({
    ...by.render(mail, now),
    to: { name: '', address: mail.to },
    from: 'no-reply@example.com',
    transporterName: 'file',
  })) as { message: Buffer };
  return (await PostalMime.parse(sent.message)) as Awaited<ReturnType<typeof read>>;
}

type Kind = SampleMail;
const kinds = mailSamples;

function factsOf(kind: Kind): string[] {
  if (kind.kind === 'otp') return [code];
  if (kind.kind === 'reset-link') return [link];
  if (kind.kind === 'password-expires') return ['2026-03-16 10:00 UTC', '14'];
  if (kind.kind === 'account-changed') return ['2026-03-02 10:00 UTC'];
  return ['203.0.113.7', '2026-03-02 10:00 UTC', ...(kind.kind === 'new-sign-in' ? ['Firefox, Windows'] : [])];
}

describe.each(languages)('mails in %s', (language) => {
  describe.each(kinds)('%s', (_, kind) => {
    it('contains the same facts in HTML and in plain text, in its language', async () => {
      const { html, text, subject } = await read(mailOf(kind, language));
      const facts = factsOf(kind);
      const shown = html.replace(/&amp;/g, '&').replace(/&#x3D;/g, '=');
      for (const fact of ['Alice', 'portal.example.com', ...facts]) {
        expect(shown).toContain(fact);
        expect(text).toContain(fact);
      }
      expect(html).toContain(`<html lang="${language}">`);
      for (const part of [text, subject, html.replace(/<style>.*<\/style>/s, '')]) {
        expect(/\p{Script=Han}/u.test(part)).toBe(language === 'zh-CN');
      }
    });

    it('loads nothing from the network, and leaves no gap without a nickname', async () => {
      const { html, text } = await read(mailOf(kind, language, null));
      expect(html).not.toMatch(/<img|<link|<script|url\(|src=|@import/i);
      for (const part of [html, text]) expect(part).not.toMatch(/\{\{|undefined|null|\[object/);
      expect(text).toMatch(/^\S/);
      expect(text).not.toMatch(/\n{4}/);
    });
  });

  it('keep the code and the link out of the subject, which is visible on a locked screen', async () => {
    for (const [, kind] of kinds) expect((await read(mailOf(kind, language))).subject).not.toMatch(/\d|http/);
  });

  it('have a different subject for each kind and type', async () => {
    const subjects = await Promise.all(kinds.map(async ([, kind]) => (await read(mailOf(kind, language))).subject));
    expect(new Set(subjects).size).toBe(kinds.length);
  });

  it.each(kinds)('%s shows a hostile nickname as plain text (T135)', async (_, kind) => {
    const nickname = `<img src=//evil>"'{{code}}\r\n\r\nhttps://evil.test\u2028next`;
    const { html, text } = await read(mailOf(kind, language, nickname));
    expect(html).not.toContain('<img');
    const shown = html.replaceAll('</span><wbr><span>', '');
    expect(shown).toContain('&lt;img src&#x3D;//evil&gt;&quot;&#x27;{{code}} https://evil.test');
    // The nickname stays on one line, so it cannot imitate a paragraph of the mail.
    expect(text.split('\n')[0]).toContain(`<img src=//evil>"'{{code}} https://evil.test next`);
  });

  it('the notice of a used recovery code tells how many are left, and advises new ones when they are few', async () => {
    const read9 = await read(mailOf({ kind: 'recovery-code-used', ip: '203.0.113.7', at: now, left: 9 }, language));
    const read3 = await read(mailOf({ kind: 'recovery-code-used', ip: '203.0.113.7', at: now, left: 3 }, language));
    for (const [{ text, html }, left] of [
      [read9, 9],
      [read3, 3],
    ] as const) {
      expect(text).toMatch(new RegExp(`: ${left}\n`));
      expect(html).toContain(`>${left}<`);
    }
    expect(read3.text.length).toBeGreaterThan(read9.text.length);
  });

  it.each(kinds.slice(4))('the notice "%s" contains no link', async (_, kind) => {
    const { html, text } = await read(mailOf(kind, language));
    expect(html).not.toMatch(/<a|https?:/);
    expect(text).not.toMatch(/https?:/);
  });
});

it.each([
  ['en', 'Browser: unknown'],
  ['de', 'Browser: unbekannt'],
  ['zh-CN', '浏览器: 未知'],
])('says in %s that the browser of a sign-in is unknown', async (language, line) => {
  const kind = { kind: 'new-sign-in', ip: '203.0.113.7', at: now } as Kind;
  expect((await read(mailOf(kind, language))).text).toContain(line);
});

it.each(['win.evil.test', 'win@evil.test'])(
  'a login name that looks like an address, %s, is in no mail a text of the HTML that mail programs make a link (T773)',
  async (loginName) => {
    for (const [, kind] of kinds) {
      const { html, text } = await read(mailOf({ ...kind, loginName }, 'en', loginName));
      expect(html).not.toMatch(/evil\.test/);
      expect(html.replace(/<[^>]+>/g, '')).toContain(`Hello ${loginName},`);
      expect(text).toContain(`Hello ${loginName},`);
    }
  },
);

it('escapes a link in HTML, so that its content cannot end the attribute', async () => {
  const mail = mailOf(kinds[2]![1], 'en');
  const { html } = await read({ ...mail, link: `${link}"><script>x</script>` } as QueuedMail);
  expect(html).not.toContain('<script>');
  expect(html).not.toContain(`"><script`);
});

it.each([
  [90, '2 minutes', '2分钟', '2 Minuten'],
  [20, '1 minute', '1分钟', '1 Minute'],
  [1800, '30 minutes', '30分钟', '30 Minuten'],
  [10_800, '3 hours', '3小时', '3 Stunden'],
  [259_200, '3 days', '3天', '3 Tage'],
])('shows a validity of %d seconds as "%s", "%s" and "%s"', async (seconds, en, zh, de) => {
  const kind = { kind: 'otp', code, expires: inSeconds(seconds) } as Kind;
  expect((await read(mailOf(kind, 'en'))).text).toContain(`valid for ${en} `);
  expect((await read(mailOf(kind, 'zh-CN'))).text).toContain(`在${zh}内`);
  expect((await read(mailOf(kind, 'de'))).text).toContain(`gilt ${de} (bis `);
});

it('a notice of a change by somebody else names the support as text, without a link', async () => {
  const kind = { kind: 'account-changed', change: 'disabled', by: 'directory', at: now } as Kind;
  for (const [supportUrl, shown] of [
    ['mailto:help@example.com?subject=x', 'help@example.com'],
    ['https://help.example.com/portal/', 'help.example.com/portal'],
  ] as const) {
    const { text, html } = await read(mailOf(kind, 'en'), templatesOf({ color: '#2457c5', supportUrl }));
    expect(text.replace(/\s+/g, ' ')).toContain(`contact your administrator or ${shown} immediately.`);
    expect(html).toContain(`or ${shown} immediately.`);
    expect(text).toContain('Changed by: the directory of your organisation');
    expect(`${text}${html}`).not.toMatch(/https?:|mailto:|subject=x/);
  }
});

it('a mail that version 1.0.0 queued, without a login name, has no line for it', async () => {
  const { text } = await read(mailOf({ kind: 'password-expires', expires: inSeconds(86_400) }, 'en'));
  expect(text).not.toContain('User name');
  expect(text).toContain('  Portal: portal.example.com\n');
});

describe('a language file', () => {
  const names = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const flat = (texts: object, path = ''): [string, string[]][] =>
    Object.entries(texts).flatMap(([key, value]: [string, string | object]): [string, string[]][] =>
      typeof value === 'string' ? [[`${path}${key}`, names(value)]] : flat(value, `${path}${key}.`),
    );

  it.each(languages)('%s.json has the keys of en.json, and each text the same names in braces', (language) => {
    const keysOf = (one: string) =>
      flat(textsOf(one) as object).map(([key, used]) => `${key} ${[...new Set(used)].join()}`);
    expect(keysOf(language).sort()).toEqual(keysOf('en').sort());
  });

  it('that was removed does not stop its queued mails: they are sent in English', async () => {
    expect((await read(mailOf(kinds[0]![1], 'fr'))).subject).toBe('Your verification code');
  });
});

describe('the brand', () => {
  const brand = templatesOf({ name: 'Fish & Sons', color: '#a01030' });

  it('appears in the mail with its name, which is escaped, and its colour', async () => {
    const { html, text } = await read(mailOf(kinds[2]![1], 'en'), brand);
    expect(html).toContain('>Fish &amp; Sons<');
    expect(html).toMatch(/class="button"[^>]*background:#a01030/);
    expect(text).toContain('\nFish & Sons\nportal.example.com\n');
  });

  describe('the logo', () => {
    let folder: string;
    beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'mail-logo-'))));
    afterAll(() => rmSync(folder, { recursive: true }));
    const withLogo = (bytes: number) => {
      const file = join(folder, `logo-${bytes}.png`);
      writeFileSync(file, Buffer.alloc(bytes, 7));
      return templatesOf({ name: 'Fish & Sons', color: '#a01030', mailLogo: file });
    };

    it('is a part of the mail, which still loads nothing from the network', async () => {
      const { html, attachments } = await read(mailOf(kinds[2]![1], 'en'), withLogo(1000));
      expect(html.match(/src="[^"]*"/g)).toEqual(['src="cid:logo@portal"']);
      expect(html).toContain('alt="Fish &amp; Sons"');
      expect(html).not.toMatch(/<link|<script|url\(|@import/i);
      expect(attachments).toMatchObject([
        { contentId: '<logo@portal>', mimeType: 'image/png', disposition: 'inline', related: true },
      ]);
      expect((attachments[0]!.content as ArrayBuffer).byteLength).toBe(1000);
    });

    it('that is too large for every mail is left out, and the name takes its place', async () => {
      const { html, attachments } = await read(mailOf(kinds[2]![1], 'en'), withLogo(largestLogoBytes + 1));
      expect(html).not.toContain('<img');
      expect(html).toContain('>Fish &amp; Sons<');
      expect(attachments).toEqual([]);
    });
  });

  it('is optional: without it the signature names only the host of the portal', async () => {
    expect((await read(mailOf(kinds[2]![1], 'en'))).text).toContain('-- \nportal.example.com\n');
  });
});
