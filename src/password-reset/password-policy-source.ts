import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { OnceAMinute } from '../shared/once-a-minute';
import { SystemSettings } from '../platform/settings/system-settings';
import { defaultPasswordPolicy, parsePasswordPolicy, type PasswordPolicy, PolicyProblem } from './password-policy';

/**
 * The rule in force: `PASSWORD_POLICY`, group `CONFIG`, of the root tenant, re-read without a restart (§4.11). Missing is
 * the default; unreadable is the default and an error in the log; never "no rule" (T116).
 */
@Injectable()
export class PasswordPolicySource {
  private readonly logger = new Logger('password-policy');
  private readonly report = new OnceAMinute();

  constructor(
    private readonly settings: SystemSettings,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError COMMON_503001 when the store cannot tell. */
  async current(): Promise<PasswordPolicy> {
    const text = await this.settings.find('CONFIG', 'PASSWORD_POLICY');
    if (text === undefined) return defaultPasswordPolicy;
    try {
      return parsePasswordPolicy(text);
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      if (this.report.allows(this.clock.now())) {
        this.logger.error(
          { problem: error.message },
          'CONFIG PASSWORD_POLICY cannot be read, the default rule applies',
        );
      }
      return defaultPasswordPolicy;
    }
  }
}
