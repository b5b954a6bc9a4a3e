import type { FastifyRequest } from 'fastify';
import { networkOf } from '../../shared/client-network';
import { identityKey } from '../../shared/identity-key';
import { sha256Hex } from '../crypto/key-ring';

type Asked = Pick<FastifyRequest, 'body' | 'params' | 'client'>;
type Fields = Readonly<Record<string, unknown>> | null | undefined;

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
  ['/forget-password', 'email'],
  ['/user/change-pwd-req/:uid', 'uid'],
  ['/user/change-pwd-by-req', 'req_uid'],
]);

/**
 * Routes of a user's second factor. Their uid is no secret, so it is counted together with who asks: otherwise a stranger
 * who knows a uid could use up its limit and keep the owner from logging in.
 */
const ownTargets: ReadonlyMap<string, 'body' | 'params'> = new Map([
  ['/otp-verify', 'body'],
  ['/otp-resend', 'body'],
  ['/otp-qrcode/:uid', 'params'],
]);

/** For probes and for what costs nothing: an orchestrator or a gateway must never be told to wait. */
const free = /^\/(health\/|\.well-known\/|openapi\.json$|docs|metrics$)/;

/** By the route that was matched, so that no spelling of the path makes another key. Undefined: not limited. */
export function groupOf(route: string): LimitGroup | undefined {
  return free.test(route) ? undefined : (groups.get(route) ?? 'other');
}

/** The e-mail address or uid that the request is about, in the form it is looked up by. */
export function targetOf(route: string, request: Asked): string | undefined {
  const place = ownTargets.get(route);
  if (place !== undefined) return ownTargetOf(request, request[place] as Fields);
  const name = targets.get(route);
  if (name === undefined) return undefined;
  return keyOf((route.includes(`:${name}`) ? request.params : request.body) as Fields, name);
}

/** A request is its owner's by the mfa_token, otherwise by its address, as with the pending login itself (decisions.md 3). */
function ownTargetOf({ client }: Asked, fields: Fields): string | undefined {
  const uid = keyOf(fields, 'uid');
  if (uid === undefined) return undefined;
  const token = fields?.mfa_token;
  // As JSON, because a uid is any text here: none can be written so that it makes the key of another.
  return JSON.stringify(typeof token === 'string' ? [uid, 'token', sha256Hex(token)] : [uid, networkOf(client.ip)]);
}

function keyOf(fields: Fields, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === 'string' ? identityKey(value) : undefined;
}
