import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { MailerOptions, TemplateAdapter } from '@nestjs-modules/mailer';
import type { TemplateDelegate } from 'handlebars';
import { AppConfig } from '../../platform/config/app-config';
import { changeType } from '../../shared/change-type';
import type { QueuedMail } from '../outbox/mail-payload';
import { durationText, subjectOf, timeText, wordings } from './mail-wording';

/** The templates are beside this file, in the source tree and in the build (scripts/bundle.mjs copies them). */
const directory = __dirname;

let loading: Promise<TemplateAdapter> | undefined;
/** Loaded with the first mail: the adapter also loads a native CSS inliner, which is not used. */
const handlebars = () =>
  (loading ??= import('@nestjs-modules/mailer/adapters/handlebars.adapter').then(
    ({ HandlebarsAdapter }) => new HandlebarsAdapter(undefined, { inlineCssEnabled: false }),
  ));

/** MailerService renders the HTML. Strict: a variable without a value is an error, not a gap in the mail. */
export const htmlTemplates: NonNullable<MailerOptions['template']> = {
  dir: directory,
  adapter: {
    compile: (mail, done, options) =>
      void handlebars()
        .then((adapter) => adapter.compile(mail, done, options))
        .catch(done),
  },
  options: { strict: true },
};
export const htmlLayout = 'layout.html';

type Context = Readonly<Record<string, string | boolean | null>>;

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  /** The HTML template. MailerService renders it with `context` and escapes the values. */
  readonly template: string;
  readonly context: Record<string, unknown>;
}

/** Renders the templates `<kind>.<language>.{html,text}.hbs`; `layout.html.hbs` surrounds the HTML. */
@Injectable()
export class MailTemplates {
  private readonly site: string;
  private readonly texts = new Map<string, TemplateDelegate<Context>>();

  constructor(config: AppConfig) {
    this.site = new URL(config.systemUrl).host;
  }

  async render(mail: QueuedMail, now: Date): Promise<RenderedMail> {
    const subject = subjectOf(mail);
    const context = {
      language: mail.language,
      subject,
      site: this.site,
      automatic: wordings[mail.language].automatic,
      nickname: oneLine(mail.nickname),
      ...details(mail, now),
    };
    const template = await this.text(`${mail.kind}.${mail.language}.text.hbs`);
    const text = template(context).trimEnd();
    return {
      subject,
      text: `${text}\n\n-- \n${this.site}\n${context.automatic}\n`,
      template: `${mail.kind}.${mail.language}.html.hbs`,
      context,
    };
  }

  private async text(file: string): Promise<TemplateDelegate<Context>> {
    let template = this.texts.get(file);
    if (template === undefined) {
      const { default: engine } = await import('handlebars');
      template = engine.compile<Context>(readFileSync(join(directory, file), 'utf8'), { strict: true, noEscape: true });
      this.texts.set(file, template);
    }
    return template;
  }
}

function details(mail: QueuedMail, now: Date): Context {
  switch (mail.kind) {
    case 'otp':
      return { code: mail.code, ...validity(mail, now) };
    case 'reset-link':
      return {
        link: mail.link,
        first: mail.type === changeType.first,
        forgotten: mail.type === changeType.forgotten,
        ...validity(mail, now),
      };
    case 'password-changed':
      return { ip: mail.ip, time: timeText(mail.at) };
    case 'totp-changed':
      return { ip: mail.ip, time: timeText(mail.at), replaced: mail.replaced };
  }
}

function validity({ language, expires }: { language: QueuedMail['language']; expires: Date }, now: Date): Context {
  return { validFor: durationText(language, expires.getTime() - now.getTime()), validUntil: timeText(expires) };
}

/** A nickname is free text of a user. On one line it cannot imitate a paragraph of the mail. */
function oneLine(nickname: string | null | undefined): string | null {
  const line = (nickname ?? '').replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line === '' ? null : [...line].slice(0, 64).join('');
}
