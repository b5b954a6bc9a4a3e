import { Injectable } from '@nestjs/common';
import type { MailerOptions, TemplateAdapter } from '@nestjs-modules/mailer';
import { loadOnce } from '../../shared/load-once';
import { ServiceSettings } from '../../platform/config/service-settings';
import { BrandSettings } from '../brand-settings';
import type { QueuedMail } from '../outbox/mail-payload';
import { contentOf, type MailContent } from './mail-content';

/** Loaded with the first mail: the adapter also loads a native CSS inliner, which is not used. */
const handlebars = loadOnce<TemplateAdapter>(async () => {
  const { HandlebarsAdapter } = await import('@nestjs-modules/mailer/adapters/handlebars.adapter');
  return new HandlebarsAdapter(undefined, { inlineCssEnabled: false });
});

/**
 * MailerService renders the HTML and escapes the values. The template is beside this file, in the source tree and in
 * the build (scripts/bundle.mjs copies it). `strict` makes a variable without a value an error instead of a gap in the
 * mail.
 */
export const htmlTemplates: NonNullable<MailerOptions['template']> = {
  dir: __dirname,
  adapter: {
    compile: (mail, done, options) =>
      void handlebars()
        .then((adapter) => adapter.compile(mail, done, options))
        .catch(done),
  },
  options: { strict: true },
};

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly template: string;
  /** The values of the HTML template. */
  readonly context: Record<string, unknown>;
}

/** Renders a mail in its language as plain text and for the HTML template `mail.html.hbs`. */
@Injectable()
export class MailTemplates {
  private readonly site: string;
  private readonly brand: { readonly name: string | null; readonly color: string };

  constructor(service: ServiceSettings, brandSettings: BrandSettings) {
    this.site = new URL(service.systemUrl).host;
    this.brand = { name: brandSettings.name ?? null, color: brandSettings.color };
  }

  render(mail: QueuedMail, now: Date): RenderedMail {
    const content = contentOf(mail, this.site, now);
    const absent = { greeting: null, code: null, button: null, facts: null, note: null };
    return {
      subject: content.subject,
      text: this.textOf(content),
      template: 'mail.html.hbs',
      context: { language: mail.language, site: this.site, brand: this.brand, ...absent, ...definedOf(content) },
    };
  }

  private textOf({ greeting, lead, code, button, facts, paragraphs, note, automatic }: MailContent): string {
    const table = facts?.map(({ label, value }) => `    ${label}: ${value}`).join('\n');
    const parts = [greeting, lead, code && `    ${code}`, button?.link, table, ...paragraphs, note];
    const signature = ['-- ', this.brand.name, this.site, automatic].filter(Boolean).join('\n');
    return `${parts.filter(Boolean).join('\n\n')}\n\n${signature}\n`;
  }
}

const definedOf = (content: MailContent) =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
