import { Injectable } from '@nestjs/common';
import type { Language } from '../shared/languages';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { MailLimits } from './mail-limits';
import { SmtpConfiguration } from './smtp/smtp-configuration';
import { MailDelivery } from './smtp/mail-delivery';
import { describeFailure } from './smtp/smtp-failure';
import { withoutCredentials } from './smtp/server-reply';

/** `reply` is what the server said, or what prevented the conversation. It contains no user name and no password. */
export type SmtpTestResult = { readonly sent: true } | { readonly sent: false; readonly reply: string };

/** Sends one mail with the current settings now, past the outbox, for an administrator who waits for the result. */
@Injectable()
export class SmtpTest {
  constructor(
    private readonly delivery: MailDelivery,
    private readonly configuration: SmtpConfiguration,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: MailLimits,
  ) {}

  /**
   * Never throws, and ends within `testMs`. SMTP has no redirect, so the service only connects to the configured server.
   * @param to one plain address
   */
  async send(to: string, language: Language): Promise<SmtpTestResult> {
    const signal = AbortSignal.timeout(this.limits.testMs);
    try {
      const mail = { kind: 'test', to, language, at: this.clock.now() } as const;
      const outcome = await this.delivery.deliver(this.random.uuid(), mail, signal);
      return outcome === 'sent' ? { sent: true } : { sent: false, reply: 'no mail server is configured' };
    } catch (error) {
      if (signal.aborted) return { sent: false, reply: `no answer within ${this.limits.testMs / 1000} s` };
      return { sent: false, reply: await this.describe(error) };
    }
  }

  private async describe(error: unknown): Promise<string> {
    const { response } = (error ?? {}) as { response?: unknown };
    const { error: kind, code, reason, command, problem } = describeFailure(error);
    const settings = await this.configuration.current().catch(() => undefined);
    const said = typeof response === 'string' ? withoutCredentials(response, settings?.auth) : undefined;
    const parts = problem === undefined ? [command, said ?? reason ?? code ?? kind] : [problem];
    return parts.filter((part) => part !== undefined).join(': ');
  }
}
