import { otpauthURL, totp } from 'speakeasy';
import type { Random } from '../../shared/random';
import { isCodeShaped } from '../codes/submitted-code';
import { TotpCodes } from './totp-codes';

const period = 30;
const secretBytes = 20;
/** Long enough to tell accounts apart, and short enough for a QR code. */
const accountLength = 64;

/** speakeasy only computes codes, because its secret generator is biased and tests cannot set its clock (ADR 0008). */
export class SpeakeasyTotpCodes extends TotpCodes {
  constructor(
    private readonly random: Random,
    private readonly options: { readonly issuer: string; readonly window: number },
  ) {
    super();
  }

  generateSecret(): string {
    const hex = this.random.bytes(secretBytes).toString('hex');
    return new URL(this.otpauth(hex, 'hex', '-')).searchParams.get('secret') ?? '';
  }

  uri(secret: string, account: string): string {
    return this.otpauth(secret, 'base32', [...account].slice(0, accountLength).join(''));
  }

  stepOf(code: string, secret: string, now: Date): number | null {
    if (!isCodeShaped(code)) return null;
    const time = Math.floor(now.getTime() / 1000);
    const match: { delta: number } | undefined = totp.verifyDelta({
      token: code,
      secret,
      encoding: 'base32',
      algorithm: 'sha1',
      digits: 6,
      step: period,
      time,
      window: this.options.window,
    });
    return match === undefined ? null : Math.floor(time / period) + match.delta;
  }

  private otpauth(secret: string, encoding: 'hex' | 'base32', account: string): string {
    const { issuer } = this.options;
    return otpauthURL({
      secret,
      encoding,
      label: `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`,
      issuer,
      algorithm: 'sha1',
      digits: 6,
      period,
    });
  }
}
