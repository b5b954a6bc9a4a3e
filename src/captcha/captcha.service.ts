import { Injectable } from '@nestjs/common';
import type { Challenge } from 'altcha-lib';
import { DomainError } from '../shared/errors/domain-error';
import { captchaRejected, captchaUnavailable, routeNotFound } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';
import { CaptchaGateway } from './captcha-gateway';
import { CaptchaPasses } from './pass/captcha-passes';
import { AltchaChallenges } from './provider/altcha-challenges';

/** The longest token of any provider (Turnstile); what is longer or not visible ASCII is nobody's token (W16). */
const plausible = /^[\x21-\x7e]{1,2048}$/;

/** The door of the captcha: login's first step, and the endpoint that exchanges a token for a pass (§1.2, §4.1, §4.8). */
@Injectable()
export class CaptchaService {
  constructor(
    private readonly gateway: CaptchaGateway,
    private readonly passes: CaptchaPasses,
    private readonly challenges: AltchaChallenges,
    private readonly config: AppConfig,
  ) {}

  /**
   * Spends a widget's token or a pass of `verify`.
   * @param token as the body had it, of whatever type
   * @param ip the client's canonical address
   * @throws DomainError CAPTCHA_401001, or CAPTCHA_503001 when nobody could judge it (then it is not spent)
   */
  async assertHuman(token: unknown, ip: string): Promise<void> {
    const given = plausibleToken(token);
    if (this.isTestToken(given)) return;
    if (!this.passes.recognises(given)) return this.assertAccepted(given, ip);
    if (!(await this.passes.spend(given, ip))) throw new DomainError(captchaRejected);
  }

  /**
   * §4.8: spends a widget's token and answers a pass for /login. A pass is not taken here: renewed again and again, one
   * solution would be as good tomorrow as today.
   */
  async verify(token: unknown, ip: string): Promise<string> {
    const given = plausibleToken(token);
    if (!this.isTestToken(given)) {
      if (this.passes.recognises(given)) throw new DomainError(captchaRejected);
      await this.assertAccepted(given, ip);
    }
    return this.passes.issue(ip);
  }

  /** @throws DomainError COMMON_404001 where the self-hosted challenge is not configured. */
  async challenge(): Promise<Challenge> {
    if (!this.config.captcha.providers.includes('altcha')) throw new DomainError(routeNotFound);
    return this.challenges.issue();
  }

  private async assertAccepted(token: string, ip: string): Promise<void> {
    const verdict = await this.gateway.judge(token, ip);
    if (verdict === 'rejected') throw new DomainError(captchaRejected);
    if (verdict === 'unavailable') throw new DomainError(captchaUnavailable);
  }

  /** Settings refuse one in production and on a HOST that others can reach. */
  private isTestToken(token: string): boolean {
    return token === this.config.captcha.testToken;
  }
}

function plausibleToken(token: unknown): string {
  if (typeof token !== 'string' || !plausible.test(token)) throw new DomainError(captchaRejected);
  return token;
}
