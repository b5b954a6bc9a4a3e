import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** The only source of identifiers, codes and secrets: a cryptographically secure generator. */
export abstract class Random {
  /** UUID version 4 (RFC 9562). */
  abstract uuid(): string;
  /** `count` uniformly distributed decimal digits. Leading zeros are kept. */
  abstract digits(count: number): string;
  abstract bytes(count: number): Buffer;
}

export class SystemRandom extends Random {
  uuid(): string {
    return randomUUID();
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => randomInt(10)).join('');
  }

  bytes(count: number): Buffer {
    return randomBytes(count);
  }
}
