import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { CaptchaReceipts } from '../captcha-receipts';

const purpose = 'captcha-pass';
const lifetimeSeconds = 300;

/** One spelling only: hexadecimal in capitals would be the same signature and a second receipt. */
const shape = /^pass\.(\d{1,12})\.([0-9a-f-]{36})\.([0-9a-f]{64})$/;

/** Signed proof that this service has seen a valid captcha: once, five minutes, from one address (§4.8, W15). */
@Injectable()
export class CaptchaPasses {
  constructor(
    private readonly keys: KeyRing,
    private readonly receipts: CaptchaReceipts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** No token of a provider begins like this. */
  recognises(token: string): boolean {
    return token.startsWith('pass.');
  }

  issue(ip: string): string {
    const expires = this.clock.epochSeconds() + lifetimeSeconds;
    const id = this.random.uuid();
    return `pass.${expires}.${id}.${this.keys.mac(purpose, signed(expires, id, ip))}`;
  }

  /** True once, for the address it was issued to. What is forged or expired leaves no row. */
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
