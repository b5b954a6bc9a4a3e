import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { BreachSettings } from '../reset-settings';
import { boundedRequest } from '../../platform/http/bounded-request';

const timeoutMs = 2000;
/** A padded range of the public service has about 1000 lines of 40 bytes. Ranges grow with the known passwords. */
const largestBody = 1024 * 1024;
const line = /^([0-9A-F]{35}):(\d{1,15})$/i;

/**
 * The rule `breach_check`: asks the service at `PASSWORD_BREACH_URL` by the k-anonymity range protocol. The first five
 * hex digits of the SHA-1 leave this service and nothing else. A service that is down, slow or wrong must not prevent a
 * password change, so the password is then accepted.
 */
@Injectable()
export class BreachedPasswords {
  private readonly logger = new Logger('password-breach');
  private failures = 0;

  constructor(private readonly settings: BreachSettings) {}

  /** For the metrics: checks of this process that had no usable answer. */
  get failedChecks(): number {
    return this.failures;
  }

  /** Never throws. */
  async includes(password: string): Promise<boolean> {
    const hash = createHash('sha1').update(password, 'utf8').digest('hex').toUpperCase();
    // With padding, the length of an encrypted answer does not reveal the range.
    const headers = { accept: 'text/plain', 'add-padding': 'true' };
    const url = `${this.settings.breachUrl}${hash.slice(0, 5)}`;
    const answer = await boundedRequest(url, { timeoutMs, largestBody }, { headers });
    if ('failure' in answer) return this.failed(answer.failure);
    const counts = readRange(answer.text);
    return counts === undefined ? this.failed('nonsense') : (counts.get(hash.slice(5)) ?? 0) > 0;
  }

  private failed(reason: string): false {
    this.failures += 1;
    this.logger.warn({ reason }, 'the breach check got no usable answer, the password was accepted without it');
    return false;
  }
}

/**
 * The counts by the rest of the hash, or undefined unless each line has the form of the protocol. A count of 0 is
 * padding. A padded answer is never empty.
 */
function readRange(text: string): Map<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const one of text.trim().split(/\r?\n/)) {
    const [, rest, count] = line.exec(one) ?? [];
    if (rest === undefined) return undefined;
    counts.set(rest.toUpperCase(), Number(count));
  }
  return counts;
}
