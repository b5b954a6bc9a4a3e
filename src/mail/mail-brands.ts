import { Injectable } from '@nestjs/common';

/** What a mail shows of a brand. */
export interface MailBrand {
  readonly name: string | null;
  readonly color: string;
  readonly supportUrl: string | null;
  /** A png; other images are not shown by all mail programs. Null: the mail shows the name. Undefined: that of the environment. */
  readonly logo: { readonly name: string; readonly content: Buffer } | null | undefined;
}

/** The port to the brands of tenants, which know their users. Without a source, mails show the brand of the environment. */
@Injectable()
export class MailBrands {
  private source: ((userId: string | null) => Promise<MailBrand | undefined>) | undefined;

  register(source: (userId: string | null) => Promise<MailBrand | undefined>): void {
    this.source = source;
  }

  /** @param userId null: nobody's, so that it shows the default @returns undefined for the brand of the environment */
  async of(userId: string | null | undefined): Promise<MailBrand | undefined> {
    return this.source?.(userId ?? null);
  }
}
