import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { LogThrottle } from '../shared/log-throttle';
import { SystemSettings } from '../platform/settings/system-settings';
import { defaultPasswordPolicy, parsePasswordPolicy, type PasswordPolicy, PolicyProblem } from './password-policy';

/**
 * The current policy: `PASSWORD_POLICY` in the group `CONFIG` of the root tenant. A change needs no restart. When the
 * value is missing or unreadable, the default applies, never "no rule" (docs/spec/decisions.md#password-policy).
 */
@Injectable()
export class PasswordPolicySource {
  private readonly logger = new Logger('password-policy');
  private readonly report = new LogThrottle();
  private defaults = defaultPasswordPolicy;

  constructor(
    private readonly settings: SystemSettings,
    private readonly clock: Clock,
  ) {}

  /** For the demo: passwords such as `Demo-Alice-1` are allowed unless a stored policy forbids them. */
  relaxDefaults(): void {
    this.defaults = { ...defaultPasswordPolicy, forbid_common: false, forbid_own_data: false };
  }

  /** @throws DomainError COMMON_503001 when the database cannot answer */
  async current(): Promise<PasswordPolicy> {
    const text = await this.settings.find('CONFIG', 'PASSWORD_POLICY');
    if (text === undefined) return this.defaults;
    try {
      return parsePasswordPolicy(text, this.defaults);
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      if (this.report.allows(this.clock.now())) {
        this.logger.error(
          { problem: error.message },
          'CONFIG PASSWORD_POLICY is invalid, the default policy applies: correct it with config set',
        );
      }
      return this.defaults;
    }
  }
}
