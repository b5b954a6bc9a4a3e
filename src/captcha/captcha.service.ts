import { Injectable } from '@nestjs/common';
import type { Challenge } from 'altcha-lib';
import { DomainError } from '../shared/errors/domain-error';
import { captchaRejected, captchaUnavailable, routeNotFound } from '../shared/errors/error-catalogue';
import { CaptchaSettings } from './captcha-settings';
import { CaptchaGateway } from './captcha-gateway';
import { CaptchaPasses } from './captcha-passes';
import { AltchaChallenges } from './provider/altcha-challenges';

/** 2048 is the longest token of any provider (Turnstile). Other input is refused without asking a provider. */
const plausible = /^[\x21-\x7e]{1,2048}$/;

/** The first check of a login, and the exchange of a captcha token for a pass (docs/spec/decisions.md#6). */
@Injectable()
export class CaptchaService {
  constructor(
    private readonly gateway: CaptchaGateway,
    private readonly passes: CaptchaPasses,
    private readonly challenges: AltchaChallenges,
    private readonly settings: CaptchaSettings,
  ) {}

  /**
   * Spends a token of the widget, or a pass that `verify` issued.
   * @param token the unvalidated value of the request body
   * @param ip the client's canonical address
   * @throws DomainError CAPTCHA_401001, or CAPTCHA_503001 when no provider could judge the token (it is not spent)
   */
  async assertHuman(token: unknown, ip: string): Promise<void> {
    const given = plausibleToken(token);
    if (this.isTestToken(given)) return;
    if (!this.passes.recognises(given)) return this.assertAccepted(given, ip);
    if (!(await this.passes.spend(given, ip))) throw new DomainError(captchaRejected);
  }

  /**
   * `POST /verify-captcha`: spends a token of the widget and returns a pass for `/login`. A pass is refused here:
   * otherwise one solved captcha could be renewed for ever.
   */
  async verify(token: unknown, ip: string): Promise<string> {
    const given = plausibleToken(token);
    if (!this.isTestToken(given)) {
      if (this.passes.recognises(given)) throw new DomainError(captchaRejected);
      await this.assertAccepted(given, ip);
    }
    return this.passes.issue(ip);
  }

  /** @throws DomainError COMMON_404001 when `altcha` is not a configured provider. */
  async challenge(): Promise<Challenge> {
    if (!this.settings.providers.includes('altcha')) throw new DomainError(routeNotFound);
    return this.challenges.issue();
  }

  private async assertAccepted(token: string, ip: string): Promise<void> {
    const verdict = await this.gateway.judge(token, ip);
    if (verdict === 'rejected') throw new DomainError(captchaRejected);
    if (verdict === 'unavailable') throw new DomainError(captchaUnavailable);
  }

  /** The settings refuse a test token in production and on a HOST that is not a loopback address. */
  private isTestToken(token: string): boolean {
    return token === this.settings.testToken;
  }
}

function plausibleToken(token: unknown): string {
  if (typeof token !== 'string' || !plausible.test(token)) throw new DomainError(captchaRejected);
  return token;
}
