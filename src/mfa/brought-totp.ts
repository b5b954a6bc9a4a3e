import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import { TotpSecrets } from './persistence/totp-secret.repository';
import { SealedTotp } from './totp/sealed-totp';
import { TotpCodes } from './totp/totp-codes';
import { urlOf } from '../shared/url-text';

/** A secret that this service cannot use. The message shows no part of it. */
export class UnusableTotp extends Error {
  override readonly name = 'UnusableTotp';
}

/** The authenticator that a user brings from another system (docs/spec/extensions.md#import). */
@Injectable()
export class BroughtTotp {
  constructor(
    private readonly secondFactor: SecondFactor,
    private readonly secrets: TotpSecrets,
    private readonly sealed: SealedTotp,
    private readonly codes: TotpCodes,
  ) {}

  /** Makes it the second factor of an account that the transaction has just made. @param secret of `totpSecretOf` */
  async store(tx: Transaction, { uid, loginName }: User, secret: string): Promise<void> {
    const { secret: sealed, uri } = this.sealed.seal(secret, this.codes.uri(secret, loginName));
    await this.secondFactor.bringSecret(tx, uid, sealed);
    await this.secrets.insertConfirmed(tx, { userId: uid, secret: sealed, uri });
  }
}

/** A URI has a few hundred characters. The text of an administrator may be as long as a row, and takes seconds to read then. */
const longestText = 1_024;
const uriBegin = /^otpauth:\/\//i;
/** 80 bits, which old authenticators have, to 512 bits. */
const base32 = /^[A-Z2-7]{16,103}$/;
/** A text of such a length modulo 8 ends within a byte. */
const cutLengths = [1, 3, 6];

/**
 * Reads a secret in Base32, with or without spaces and padding, or the URI that an authenticator has read.
 * @returns Base32 without padding
 * @throws UnusableTotp for other codes than those of SHA-1, 6 digits and 30 seconds
 */
export function totpSecretOf(text: string): string {
  if (text.length > longestText) throw new UnusableTotp(`it must have at most ${longestText} characters`);
  const given = uriBegin.test(text) ? secretOfUri(text) : text;
  const secret = given.replace(/[\s-]|=+$/g, '').toUpperCase();
  if (base32.test(secret) && !cutLengths.includes(secret.length % 8)) return secret;
  throw new UnusableTotp('the secret must be 10 to 64 bytes in Base32');
}

function secretOfUri(text: string): string {
  const uri = urlOf(text);
  if (uri?.hostname.toLowerCase() !== 'totp') throw new UnusableTotp('the URI must begin with otpauth://totp/');
  const { algorithm = 'SHA1', digits = '6', period = '30', secret = '' } = Object.fromEntries(uri.searchParams);
  if (algorithm.toUpperCase() !== 'SHA1') throw new UnusableTotp('the algorithm must be SHA1');
  if (digits !== '6') throw new UnusableTotp('the codes must have 6 digits');
  if (period !== '30') throw new UnusableTotp('the period must be 30 seconds');
  return secret;
}
