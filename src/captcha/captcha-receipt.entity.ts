import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `captcha_receipts`: a spent token. Its primary key refuses a second use. */
@Entity('captcha_receipts')
export class CaptchaReceipt {
  /** SHA-256 of what identifies the token. */
  @PrimaryColumn('varchar', { name: 'token_hash', length: 64 })
  tokenHash: string;

  @Column('datetime')
  expires: Date;
}
