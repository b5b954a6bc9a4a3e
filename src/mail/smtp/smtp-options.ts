import type { SMTPPoolOptions, SMTPTransportOptions } from 'nodemailer';
import type { MailLimits } from '../mail-limits';
import type { SmtpSettings } from '../../platform/config/smtp-settings';

/** A message is text and HTML of our own making: nothing in it may name a file or an address to be fetched (W57). */
export const noForeignContent = { disableFileAccess: true, disableUrlAccess: true } as const;

/** nodemailer's own time-outs are two and ten minutes (W57). Certificates are verified, which is its default. */
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
  // One retry of its own, for a connection that the server closed while it was idle; the outbox does the rest.
  return {
    ...smtpOptions(settings, limits),
    pool: true,
    maxConnections: limits.concurrency,
    maxRequeues: 1,
    idleTimeout: 30_000,
  };
}
