import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailerService } from '@nestjs-modules/mailer';
import { createTransport } from 'nodemailer';
import type { Page } from 'playwright-core';
import PostalMime, { type Email } from 'postal-mime';
import type { BrandSettings } from '../../src/mail/brand-settings';
import { htmlTemplates, MailTemplates } from '../../src/mail/templates/mail-templates';
import type { ServiceSettings } from '../../src/platform/config/service-settings';
import { languages } from '../../src/shared/languages';
import { accessibilityViolations, overflow, resize, schemes, takePicture } from '../support/browser/pictures';
import { mailSamples, sampleMail, type SampleMail, sampleTime } from '../support/mail-samples';
import { Chromium } from '../support/servers/chromium';

const widths = [380, 700];
const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="340" height="72" style="display:block">
  <circle cx="36" cy="36" r="34" fill="#a01030"/><path d="M20 38l11 11 22-26" fill="none" stroke="#fff" stroke-width="7"/>
  <text x="84" y="49" font-family="sans-serif" font-weight="bold" font-size="36" fill="#1c2330">Fish &amp; Sons</text></svg>`;

const mailer = new MailerService(
  { transports: { file: { streamTransport: true, buffer: true } as object }, template: htmlTemplates },
  { createTransport: (options) => createTransport(options as object) },
);

/** The mail as a mail program reads it. */
async function received(templates: MailTemplates, sample: SampleMail, language: string): Promise<Email> {
  const { message } = (await mailer.sendMail({
    ...templates.render(sampleMail(sample, language), sampleTime),
    to: 'alice@example.com',
    from: 'no-reply@example.com',
    transporterName: 'file',
  })) as { message: Buffer };
  return PostalMime.parse(message);
}

/** The HTML with the images that are parts of the mail. */
function shown({ html = '', attachments }: Email): string {
  return attachments.reduce((text, { contentId = '', mimeType, content }) => {
    const data = Buffer.from(content as ArrayBuffer).toString('base64');
    return text.replaceAll(`cid:${contentId.replace(/[<>]/g, '')}`, `data:${mimeType};base64,${data}`);
  }, html);
}

/**
 * Every mail in every language, as a phone and a computer show it. `PICTURES=folder npx jest test/browser/mails
 * --selectProjects browser` writes a picture of each, to look at after a change of a text or of the template.
 */
describe('mails', () => {
  let chromium: Chromium;
  let folder: string;
  let branded: MailTemplates;
  let plain: MailTemplates;
  let page: Page;

  beforeAll(async () => {
    chromium = await Chromium.start();
    page = await (await chromium.newVisitor({})).newPage();
    folder = mkdtempSync(join(tmpdir(), 'mails-'));
    const file = join(folder, 'logo.png');
    await page.setContent(logo);
    writeFileSync(file, await page.locator('svg').screenshot({ omitBackground: true }));
    const service = { systemUrl: 'https://portal.example.com' } as ServiceSettings;
    const brand = { name: 'Fish & Sons', color: '#a01030', supportUrl: 'mailto:help@example.com', mailLogo: file };
    branded = new MailTemplates(service, brand as BrandSettings);
    plain = new MailTemplates(service, { color: '#2457c5' } as BrandSettings);
  });
  afterAll(async () => {
    await chromium.stop();
    rmSync(folder, { recursive: true });
  });

  describe.each(languages)('in %s', (language) => {
    it.each(mailSamples)(
      '%s fits on a phone, is accessible in light and dark, and loads nothing',
      async (name, sample) => {
        const loaded: string[] = [];
        page.on('request', (request) => loaded.push(request.url()));
        const isBranded = sample.kind === 'otp' || sample.kind === 'reset-link';
        const mail = await received(isBranded ? branded : plain, sample, language);
        await page.setContent(shown(mail));
        for (const width of widths) {
          await resize(page, { width, height: 700 });
          for (const colorScheme of schemes) {
            await page.emulateMedia({ colorScheme });
            expect(await overflow(page)).toBe(0);
            await takePicture(page, `${name.replace(/\W+/g, '-')} ${language} ${width} ${colorScheme}`);
            expect(await accessibilityViolations(page)).toEqual([]);
          }
        }
        page.removeAllListeners('request');
        expect(loaded.filter((url) => !url.startsWith('data:'))).toEqual([]);
      },
    );
  });
});
