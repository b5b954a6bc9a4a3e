import { Logger } from '@nestjs/common';
import type { Clock } from '../../shared/clock';
import { CaptchaGateway, type CaptchaVerdict } from '../captcha-gateway';
import type { CaptchaReceipts } from '../captcha-receipt.repository';
import type { AltchaChallenges } from './altcha-challenges';
import type { CaptchaProvider, Judgement } from './judgement';

/** Longer than the lifetime of any provider's token (Turnstile 5 minutes, the others 2). */
const receiptSeconds = 600;

/** Asks the configured providers in their order and keeps one receipt for each token (ADR 0006). */
export class FailoverGateway extends CaptchaGateway {
  private readonly logger = new Logger('captcha');
  private readonly shareMs: number;

  /**
   * @param altcha undefined when it is not configured
   * @param timeoutMs the time-out for one token. The providers share it, so that a second provider does not double it.
   */
  constructor(
    private readonly altcha: AltchaChallenges | undefined,
    private readonly providers: readonly CaptchaProvider[],
    private readonly receipts: CaptchaReceipts,
    private readonly clock: Clock,
    timeoutMs: number,
  ) {
    super();
    this.shareMs = Math.max(1, Math.floor(timeoutMs / Math.max(1, providers.length)));
  }

  async judge(token: string, ip: string): Promise<CaptchaVerdict> {
    const solution = this.altcha?.read(token);
    if (solution === undefined) return this.judgeByProviders(token, ip);
    const solved = await this.altcha?.check(solution);
    if (solved === undefined) return 'rejected';
    return (await this.receipts.claim(solved.identity, solved.expires)) ? 'accepted' : 'rejected';
  }

  /**
   * Claims the token, then asks the providers. Of parallel logins with one token, the winner of the claim asks a
   * provider; the others are refused at once and cost the provider nothing. A token that no provider could judge is
   * released, so that its owner can send it again.
   */
  private async judgeByProviders(token: string, ip: string): Promise<CaptchaVerdict> {
    if (this.providers.length === 0) return 'rejected';
    const identity = `token:${token}`;
    if (!(await this.receipts.claim(identity, this.clock.secondsFromNow(receiptSeconds)))) return 'rejected';
    const verdict = await this.askInOrder(token, ip);
    if (verdict === 'unavailable') await this.receipts.release(identity);
    return verdict;
  }

  /** A later provider can accept a token. Its refusal counts only if all earlier providers could be asked. */
  private async askInOrder(token: string, ip: string): Promise<CaptchaVerdict> {
    let skipped = false;
    for (const provider of this.providers) {
      const judgement = await provider.judge(token, ip, this.shareMs);
      this.report(provider.name, judgement);
      if (judgement.verdict === 'accepted') return 'accepted';
      if (judgement.verdict === 'rejected') return skipped ? 'unavailable' : 'rejected';
      skipped = true;
    }
    return 'unavailable';
  }

  private report(provider: string, { reason, misconfigured }: Judgement): void {
    if (reason === undefined) return;
    this.logger[misconfigured === true ? 'error' : 'warn'](
      { provider, reason },
      'captcha provider gave no usable answer',
    );
  }
}
