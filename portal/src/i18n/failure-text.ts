import { ConnectionError, KeyError, PasskeyError, RuleError, ServiceError } from '@portal-auth/sdk';
import { CaptchaError } from '../captcha/captcha-error';
import type { Texts } from './en';

interface Template {
  /** May contain `{seconds}`. */
  readonly text: string;
  readonly seconds: number;
}

/** Returns the text for an error in the language of the page; for an unknown error code, the message of the service. */
export function failureTemplate(t: Texts, error: unknown): Template {
  if (error instanceof ServiceError)
    return { text: t.errors[error.code] ?? error.message, seconds: error.retryAfter ?? 1 };
  if (error instanceof RuleError) return { text: ruleText(t, error.rule), seconds: error.seconds };
  if (error instanceof ConnectionError) return { text: t.failures.connection, seconds: 0 };
  if (error instanceof PasskeyError) return { text: t.passkeyProblems[error.problem], seconds: 0 };
  if (error instanceof KeyError)
    return { text: t.keyProblems[error.problem === 'no-crypto' ? 'no-crypto' : 'no-storage'], seconds: 0 };
  if (error instanceof CaptchaError)
    return { text: error.problem === 'failed' ? t.failures.captcha : t.captcha[error.problem], seconds: 0 };
  return { text: t.failures.unknown, seconds: 0 };
}

function ruleText(t: Texts, rule: RuleError['rule']): string {
  switch (rule) {
    case 'wait':
      return t.failures.wait;
    case 'no-pending-login':
      return t.failures.noPendingLogin;
    case 'signed-out':
      return t.failures.signedOut;
  }
}
