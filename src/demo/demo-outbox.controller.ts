import { Controller, Get } from '@nestjs/common';
import { OwnFormat } from '../platform/http/answers.decorator';
import { Admits, anyone } from '../platform/http/audience';
import { ApiExcludeController } from '../platform/http/api-docs';
import { DemoOutbox, type ShownMail } from './demo-outbox';

export const outboxPath = 'demo/outbox';

/** Lists the mails that were written to files, for the outbox page of the demo. */
@ApiExcludeController()
@Controller(outboxPath)
@OwnFormat()
export class DemoOutboxController {
  constructor(private readonly outbox: DemoOutbox) {}

  @Get()
  @Admits(anyone)
  async list(): Promise<{ mails: ShownMail[] }> {
    return { mails: await this.outbox.newest(50) };
  }
}
