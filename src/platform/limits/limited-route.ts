import type { FastifyRequest } from 'fastify';
import { identityKey } from '../../shared/identity-key';

/** Routes that share a limit; the names of the settings `RATE_LIMIT_…`. */
export type LimitGroup = 'login' | 'otp' | 'captcha' | 'forgotPassword' | 'other';

const groups: ReadonlyMap<string, LimitGroup> = new Map([
  ['/login', 'login'],
  ['/otp-verify', 'otp'],
  ['/otp-resend', 'otp'],
  ['/otp-qrcode/:uid', 'otp'],
  ['/verify-captcha', 'captcha'],
  ['/captcha/challenge', 'captcha'],
  ['/forget-password', 'forgotPassword'],
]);

/** Where an anonymous caller names whom it is about: the field of the body or the parameter of the path. */
const targets: ReadonlyMap<string, string> = new Map([
  ['/otp-verify', 'uid'],
  ['/otp-resend', 'uid'],
  ['/otp-qrcode/:uid', 'uid'],
  ['/forget-password', 'email'],
  ['/user/change-pwd-req/:uid', 'uid'],
  ['/user/change-pwd-by-req', 'req_uid'],
]);

/** For probes and for what costs nothing: an orchestrator or a gateway must never be told to wait. */
const free = /^\/(health\/|\.well-known\/|openapi\.json$|docs|metrics$)/;

/** By the route that was matched, so that no spelling of the path makes another key. Undefined: not limited. */
export function groupOf(route: string): LimitGroup | undefined {
  return free.test(route) ? undefined : (groups.get(route) ?? 'other');
}

/** The e-mail address or uid that the request is about, in the form it is looked up by. */
export function targetOf(route: string, { body, params }: Pick<FastifyRequest, 'body' | 'params'>): string | undefined {
  const name = targets.get(route);
  if (name === undefined) return undefined;
  const source = (route.includes(`:${name}`) ? params : body) as Record<string, unknown> | null | undefined;
  const value = source?.[name];
  return typeof value === 'string' ? identityKey(value) : undefined;
}
