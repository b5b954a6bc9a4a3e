import { link, mkdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ServiceSettings } from '../../platform/config/service-settings';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';

/** Writes mails to `DATA_DIR/outbox/<time>-<kind>.eml`: outside production, when no mail server is configured. */
@Injectable()
export class EmlFolder {
  constructor(
    private readonly settings: ServiceSettings,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** @returns the path of the file. The file is complete when it appears: a program may be watching the folder. */
  async write(kind: string, message: Buffer): Promise<string> {
    const folder = join(this.settings.dataDir, 'outbox');
    // The files contain codes and links in clear text.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const draft = join(folder, `.${this.random.uuid()}.tmp`);
    await writeFile(draft, message, { mode: 0o600 });
    try {
      return await publish(draft, join(folder, `${this.clock.now().toISOString().replace(/[:.]/g, '-')}-${kind}`));
    } finally {
      await unlink(draft);
    }
  }
}

/** `link` never overwrites: when two mails have the same millisecond and kind, the second gets a number. */
async function publish(draft: string, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const file = number === 1 ? `${name}.eml` : `${name}-${number}.eml`;
    try {
      await link(draft, file);
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
