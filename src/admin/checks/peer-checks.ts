import { randomUUID } from 'node:crypto';
import { checkDirectory } from '../../directory/directory-check';
import type { DirectorySettings } from '../../directory/ldap-settings';
import type { LogoutTokens } from '../../applications/logout-tokens';
import type { EventOutbox } from '../../events/event-outbox';
import type { ReceiverFigures } from '../../events/receiver-health';
import type { CaptchaGateway } from '../../captcha/captcha-gateway';
import type { CaptchaSettings } from '../../captcha/captcha-settings';
import type { LegacySystem } from '../../legacy/legacy-system';
import type { SmtpCheck } from '../../mail/smtp-check';
import type { MfaSettings } from '../../mfa/mfa-settings';
import type { RedisSettings } from '../../platform/config/redis-settings';
import { checkRedis } from '../../platform/limits/redis-check';
import { describeError } from '../../platform/logging/describe-error';
import { type Finding, finding } from './finding';

/** Sends an invalid token to the configured providers. A clear refusal shows that they answer and accept the secret. */
export function checkCaptcha({ providers }: CaptchaSettings, gateway: CaptchaGateway): Promise<Finding> {
  const names = providers.join(', ');
  return finding(
    'captcha',
    async () => {
      const verdict = await gateway.judge(`doctor-${randomUUID()}`, '127.0.0.1');
      return verdict === 'unavailable'
        ? ['problem', `${names}: no clear answer; check CAPTCHA_PROVIDER, its settings and the network`]
        : ['ok', names];
    },
    explain,
  );
}

export function checkMail({ rule }: MfaSettings, smtp: SmtpCheck): Promise<Finding> {
  return finding(
    'smtp',
    async () => {
      const { status, text } = await smtp.checkSmtp();
      if (status !== 'skipped' || rule !== 'always') return [status, text];
      return ['problem', `MFA_REQUIRED is true and ${text}: users who get codes by mail cannot log in`];
    },
    explain,
  );
}

/** A receiver that is down for this long needs an operator. Shorter outages end by themselves. */
const waitedTooLongSeconds = 900;

/** Counts only: a POST would be an event for the receiver. */
export function checkEvents(events: EventOutbox): Promise<Finding> {
  return finding(
    'events',
    async () => {
      const figures = await events.figures();
      if (figures === undefined) return ['skipped', 'WEBHOOK_URL is not set'];
      const { waiting, oldestWaitingSeconds, dead } = figures;
      const age = waiting === 0 ? '' : `, the oldest for ${Math.round(oldestWaitingSeconds)} s`;
      const late = oldestWaitingSeconds > waitedTooLongSeconds;
      return [late || dead > 0 ? 'warn' : 'ok', `${waiting} wait${age}; ${dead} were given up`];
    },
    explain,
  );
}

/** Names the receivers that fail. Only with `EVENT_RECEIVERS=on`. It counts, as `checkEvents` does. */
export function checkReceivers(figures: () => Promise<ReceiverFigures>): Promise<Finding> {
  return finding(
    'receivers',
    async () => {
      const { total, paused, failing } = await figures();
      if (total === 0) return ['skipped', 'there is no event receiver'];
      const late = failing.map(({ id, seconds, error }) => `; ${id} has failed for ${seconds} s (${error})`);
      return [late.length === 0 ? 'ok' : 'warn', `receivers: ${total}, paused: ${paused}${late.join('')}`];
    },
    explain,
  );
}

/** Names the applications that do not accept their logout tokens. Only with `OIDC=on`. */
export function checkLogouts(tokens: LogoutTokens): Promise<Finding> {
  return finding(
    'logouts',
    async () => {
      const { waiting = 0, failed = 0 } = (await tokens.figures()) ?? {};
      const late = await tokens.overdue(waitedTooLongSeconds);
      const names = late.map(
        ({ id, name, waiting: n }) => `; ${n} wait for ${name} (${id}), which does not accept them`,
      );
      const isWell = late.length === 0 && failed === 0;
      return [isWell ? 'ok' : 'warn', `${waiting} wait; ${failed} were given up${names.join('')}`];
    },
    explain,
  );
}

/**
 * Asks about a name and a password that nobody has, and counts the users that the old system still has to be asked about. Only with
 * `LEGACY_VERIFY_URL`, or while there are such users.
 */
export function checkLegacy(system: LegacySystem, left: () => Promise<number>): Promise<Finding> {
  return finding(
    'legacy',
    async () => {
      const users = await left();
      const waiting = `users who have not signed in since the import: ${users}`;
      if (!system.isOn) {
        if (users === 0) return ['skipped', 'LEGACY_VERIFY_URL is not set'];
        return ['warn', `${waiting}, and LEGACY_VERIFY_URL is not set: they have to reset their passwords`];
      }
      const question = { loginName: `doctor-${randomUUID()}`, password: randomUUID(), email: null, requestId: null };
      const answer = await system.ask(question);
      if ('failure' in answer)
        return ['problem', `the old system gives no usable answer (${answer.failure}); ${waiting}`];
      if (answer.verdict === 'right')
        return ['problem', 'the old system calls a wrong password of an unknown user right'];
      return users === 0 ? ['warn', 'nobody is left: remove LEGACY_VERIFY_URL'] : ['ok', `it answers; ${waiting}`];
    },
    explain,
  );
}

export function checkCounters({ redisUrl }: RedisSettings): Promise<Finding> {
  return finding(
    'redis',
    async () => {
      if (redisUrl === undefined) return ['skipped', 'REDIS_URL is not set: limits are kept by each process'];
      const { ok, detail } = await checkRedis(redisUrl);
      return [ok ? 'ok' : 'problem', `${new URL(redisUrl).host} ${detail}`];
    },
    explain,
  );
}

/** Tries every server. If some servers are unavailable, the next failure may be an outage, so the result is `warn`. */
export function checkLdap({ ldap }: DirectorySettings): Promise<Finding> {
  return finding(
    'ldap',
    async () => {
      if (ldap === undefined) return ['skipped', 'LDAP_URL is not set'];
      const servers = await checkDirectory(ldap);
      const text = servers.map(({ server, detail }) => `${server} ${detail}`).join('; ');
      if (servers.every(({ health }) => health === 'problem')) return ['problem', text];
      return [servers.every(({ health }) => health === 'ok') ? 'ok' : 'warn', text];
    },
    explain,
  );
}

function explain(error: unknown): string {
  const { code, message, type } = describeError(error) as Record<string, string | undefined>;
  return code ?? message ?? type ?? 'unknown error';
}
