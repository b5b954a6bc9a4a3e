import type { SMTPPoolOptions, SMTPTransportOptions } from 'nodemailer';
import type { MailLimits } from '../mail-limits';
import type { SmtpSettings } from '../smtp-settings';

/** Messages contain only generated text and HTML: nodemailer must not read a file or fetch a URL for them. */
export const noForeignContent = { disableFileAccess: true, disableUrlAccess: true } as const;

/** Sets all time-outs, because nodemailer's defaults are two and ten minutes. nodemailer verifies certificates. */
export function smtpOptions(settings: SmtpSettings, limits: MailLimits): SMTPTransportOptions {
  return {
    host: settings.host,
    port: settings.port,
    secure: settings.tls === 'tls',
    requireTLS: settings.tls === 'starttls',
    ignoreTLS: settings.tls === 'none',
    auth: settings.auth,
    tls: { minVersion: 'TLSv1.2' },
    dnsTimeout: limits.connectMs,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    socketTimeout: limits.socketMs,
    socketCloseTimeout: 0,
    ...noForeignContent,
  };
}

export function pooledOptions(settings: SmtpSettings, limits: MailLimits): SMTPPoolOptions {
  // nodemailer retries once, for an idle connection that the server closed. The outbox does all other retries.
  return {
    ...smtpOptions(settings, limits),
    pool: true,
    maxConnections: limits.concurrency,
    maxRequeues: 1,
    idleTimeout: 30_000,
  };
}
