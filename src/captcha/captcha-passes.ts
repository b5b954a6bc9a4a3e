import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { KeyRing } from '../platform/crypto/key-ring';
import { CaptchaReceipts } from './captcha-receipt.repository';

const purpose = 'captcha-pass';
const lifetimeSeconds = 300;

/** Lower-case hexadecimal only: an upper-case copy would carry the same signature and could be spent a second time. */
const shape = /^pass\.(\d{1,12})\.([0-9a-f-]{36})\.([0-9a-f]{64})$/;

/** A signed proof of a solved captcha: valid once, for five minutes, from one address (docs/spec/decisions.md#6). */
@Injectable()
export class CaptchaPasses {
  constructor(
    private readonly keys: KeyRing,
    private readonly receipts: CaptchaReceipts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** True for a pass, valid or not. No token of a provider starts with this prefix. */
  recognises(token: string): boolean {
    return token.startsWith('pass.');
  }

  issue(ip: string): string {
    const expires = this.clock.epochSeconds() + lifetimeSeconds;
    const id = this.random.uuid();
    return `pass.${expires}.${id}.${this.keys.mac(purpose, signed(expires, id, ip))}`;
  }

  /** True once, for the address that the pass was issued to. A forged or expired pass stores no receipt. */
  async spend(pass: string, ip: string): Promise<boolean> {
    const [, expires, id, mac] = shape.exec(pass) ?? [];
    if (expires === undefined || id === undefined || mac === undefined) return false;
    if (Number(expires) <= this.clock.epochSeconds()) return false;
    if (!this.keys.macMatches(purpose, signed(expires, id, ip), mac)) return false;
    return this.receipts.claim(`pass:${id}`, new Date(Number(expires) * 1000));
  }
}

function signed(expires: number | string, id: string, ip: string): string {
  return `${expires}.${id}.${ip}`;
}
