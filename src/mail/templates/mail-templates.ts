import { Injectable, Logger } from '@nestjs/common';
import type { MailerOptions, TemplateAdapter } from '@nestjs-modules/mailer';
import { loadOnce } from '../../shared/load-once';
import { ServiceSettings } from '../../platform/config/service-settings';
import { BrandSettings } from '../brand-settings';
import type { MailBrand } from '../mail-brands';
import type { QueuedMail } from '../outbox/mail-payload';
import { contentOf, type MailContent, type MailPlace } from './mail-content';
import { attachedLogo, largestLogoBytes, type MailLogo, mailLogoOf } from './mail-logo';
import { factLines, wrapped } from './plain-text';

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
  /** The logo, which the HTML shows. */
  readonly attachments: MailLogo[];
}

/** Renders a mail in its language as plain text and for the HTML template `mail.html.hbs`. */
@Injectable()
export class MailTemplates {
  private readonly place: MailPlace;
  private readonly brand: { readonly name: string | null; readonly color: string };
  private readonly logo: MailLogo | undefined;

  constructor(service: ServiceSettings, { name, color, mailLogo, supportUrl }: BrandSettings) {
    const { systemUrl } = service;
    this.place = {
      site: new URL(systemUrl).host,
      portal: withoutScheme(systemUrl),
      support: withoutScheme(supportUrl),
    };
    this.brand = { name: name ?? null, color };
    this.logo = mailLogo === undefined ? undefined : mailLogoOf(mailLogo);
    if (mailLogo !== undefined && this.logo === undefined) {
      const most = `${largestLogoBytes / 1024} KB`;
      new Logger('mail').warn({ file: mailLogo }, `the logo is larger than ${most}: mails show the name instead`);
    }
  }

  /** @param own the brand of the user's tenant; without one, that of the environment */
  render(mail: QueuedMail, now: Date, own?: MailBrand): RenderedMail {
    const place =
      own === undefined ? this.place : { ...this.place, support: withoutScheme(own.supportUrl ?? undefined) };
    const content = contentOf(mail, place, now);
    const absent = { code: null, button: null, note: null };
    const brand = own === undefined ? this.brand : { name: own.name, color: own.color };
    const logo = own?.logo === undefined ? this.logo : logoOf(own.logo);
    const { site } = this.place;
    return {
      subject: content.subject,
      text: this.textOf(content, brand.name),
      template: 'mail.html.hbs',
      context: {
        ...{ language: mail.language, site, brand, logo: logo === undefined ? null : `cid:${logo.cid}` },
        ...{ logoText: brand.name ?? site, ...absent, ...definedOf(content) },
        greeting: content.greeting === undefined ? null : unlinkedParts(content.greeting),
        facts: content.facts?.map(({ label, value }) => ({ label, parts: unlinkedParts(value) })) ?? null,
        paragraphs: content.paragraphs.map(timesApart),
      },
      attachments: logo === undefined ? [] : [logo],
    };
  }

  /** Reads well without HTML: lines of at most 76 columns, the code and the link on lines of their own. */
  private textOf(
    { greeting, lead, code, button, facts, paragraphs, note, automatic }: MailContent,
    name: string | null,
  ): string {
    const body = [lead, ...paragraphs, ...(note === undefined ? [] : [note])].map(wrapped);
    const shown = [code && `    ${code}`, button?.link, facts && facts.length > 0 && factLines(facts)];
    const signature = ['-- ', name, this.place.site, wrapped(automatic)].filter(Boolean).join('\n');
    // The greeting is not wrapped: a name that continues on the next line could imitate a paragraph.
    return `${[greeting, body[0], ...shown, ...body.slice(1)].filter(Boolean).join('\n\n')}\n\n${signature}\n`;
  }
}

const logoOf = (logo: Exclude<MailBrand['logo'], undefined>): MailLogo | undefined =>
  logo === null || logo.content.length > largestLogoBytes ? undefined : attachedLogo(logo.name, logo.content);

/** An address as text: mail programs make a link of one with a scheme. */
function withoutScheme(url: string): string;
function withoutScheme(url: string | undefined): string | undefined;
function withoutScheme(url: string | undefined): string | undefined {
  return url?.replace(/^(https?:\/\/|mailto:)/, '').replace(/[?#].*$|\/$/g, '');
}

/**
 * A login name may look like the address of a site or of a mailbox, and mail programs would make it a link. The template puts
 * each part into an element of its own, which shows and copies the same text and is not recognised as an address.
 */
const unlinkedParts = (value: string): string[] => value.split(/(?<=[.@])(?=\p{L})/u);

/** The times of a text apart from the rest, because a mail program would break `2026-03-02` behind a hyphen. */
const timesApart = (text: string): { readonly text: string; readonly time: boolean }[] =>
  text.split(/(\d{4}-\d\d-\d\d \d\d:\d\d UTC)/).map((part, index) => ({ text: part, time: index % 2 === 1 }));

const definedOf = (content: MailContent) =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
