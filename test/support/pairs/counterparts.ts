import { DirectoryStub } from '../directory-stub';
import { WebhookReceiver } from '../events/webhook-receiver';
import { LegacyStandIn } from '../legacy-system';
import { freePort } from '../servers/free-port';
import { Redis } from '../servers/redis';
import { Smtp } from '../servers/smtp';
import { TraceCollector } from '../trace-collector';
import { json, SiteverifyStub } from '../captcha/siteverify-stub';

/** The other side of each optional address: servers and stand-ins on loopback, which all rows share. */
export class Counterparts {
  private constructor(
    readonly redis: Redis,
    readonly smtp: Smtp,
    readonly webhook: WebhookReceiver,
    readonly legacy: LegacyStandIn,
    readonly collector: TraceCollector,
    readonly directory: DirectoryStub,
    readonly captcha: SiteverifyStub,
    readonly metricsPort: string,
  ) {}

  static async start(): Promise<Counterparts> {
    const captcha = new SiteverifyStub();
    await captcha.listen();
    captcha.behaviour = (response, request) => {
      // The answers of hCaptcha have no action.
      const action = captcha.asked.at(-1)?.secret?.includes('HCAPTCHA') ? {} : { action: 'login' };
      json({ success: true, hostname: 'portal.test', ...action })(response, request);
    };
    const directory = await DirectoryStub.start();
    directory.attributes = { mail: 'dora@example.com', cn: 'Dora', entryUUID: 'b2b9d0a0-0000-4000-8000-000000000001' };
    return new Counterparts(
      await Redis.start(),
      await Smtp.start(),
      await WebhookReceiver.start(),
      await LegacyStandIn.start(),
      await TraceCollector.start(),
      directory,
      captcha,
      String(await freePort()),
    );
  }

  async stop(): Promise<void> {
    const { redis, smtp, webhook, legacy, collector, directory } = this;
    for (const server of [redis, smtp, webhook, legacy, collector, directory]) await server.stop();
    await this.captcha.close();
  }

  /** Each row begins with stand-ins that remember nothing. */
  async forget(): Promise<void> {
    await this.redis.flush();
    this.smtp.messages.splice(0);
    this.webhook.seen.splice(0);
    this.collector.posts.splice(0);
  }

  get urls() {
    return {
      redis: this.redis.url,
      smtp: this.smtp.url,
      webhook: this.webhook.settings,
      legacy: this.legacy.settings,
      collector: this.collector.endpoint,
      directory: { ...this.directory.settings, LDAP_TIMEOUT_MS: '4500' },
      captcha: (name: '' | 'TURNSTILE_' | 'HCAPTCHA_' | 'RECAPTCHA_') => ({
        [`CAPTCHA_${name}SECRET`]: `the-secret-at-${name}of-the-portal`,
        [`CAPTCHA_${name}VERIFY_URL`]: this.captcha.url,
      }),
    };
  }
}
