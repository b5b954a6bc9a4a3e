import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import PostalMime from 'postal-mime';
import { AppConfig } from '../platform/config/app-config';

export interface ShownMail {
  readonly id: string;
  readonly subject: string;
  readonly to: string;
  /** ISO 8601. */
  readonly date: string;
  readonly text: string;
}

/** Reads the mails that were written to files because no mail server is configured. They contain codes and links. */
@Injectable()
export class DemoOutbox {
  private readonly folder: string;

  constructor(config: AppConfig) {
    if (config.production) throw new Error('the demo outbox is not for production: start dist/src/main.js');
    this.folder = join(config.dataDir, 'outbox');
  }

  /** Sorts by file name, because the names begin with the time. */
  async newest(count: number): Promise<ShownMail[]> {
    const names = await readdir(this.folder).catch(() => []);
    const newest = names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .reverse()
      .slice(0, count);
    return Promise.all(newest.map((name) => this.read(name)));
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
