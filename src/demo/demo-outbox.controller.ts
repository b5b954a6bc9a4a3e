import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get } from '@nestjs/common';
import PostalMime from 'postal-mime';
import { ServiceSettings } from '../platform/config/service-settings';
import { ApiExcludeController } from '../platform/http/api-docs';
import { OwnFormat } from '../platform/http/answers.decorator';
import { Admits, anyone } from '../platform/http/audience';

export const outboxPath = 'demo/outbox';

const mostShown = 50;

interface ShownMail {
  readonly id: string;
  readonly subject: string;
  readonly to: string;
  /** ISO 8601. */
  readonly date: string;
  readonly text: string;
}

/**
 * Lists the mails that were written to files because no mail server is configured, for the outbox page of the demo. They
 * contain codes and links.
 */
@ApiExcludeController()
@Controller(outboxPath)
@OwnFormat()
export class DemoOutboxController {
  private readonly folder: string;

  constructor(settings: ServiceSettings) {
    if (settings.production) throw new Error('the demo outbox is not for production: start dist/src/main.js');
    this.folder = join(settings.dataDir, 'outbox');
  }

  /** The newest first. The names of the files begin with the time. */
  @Get()
  @Admits(anyone)
  async list(): Promise<{ mails: ShownMail[] }> {
    const names = await readdir(this.folder).catch(() => []);
    const newest = names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .reverse()
      .slice(0, mostShown);
    return { mails: await Promise.all(newest.map((name) => this.read(name))) };
  }

  private async read(name: string): Promise<ShownMail> {
    const mail = await PostalMime.parse(await readFile(join(this.folder, name)));
    return {
      id: name,
      subject: mail.subject ?? '',
      to: (mail.to ?? []).map(({ address }) => address ?? '').join(', '),
      date: mail.date ?? '',
      text: (mail.text ?? '').trim(),
    };
  }
}
