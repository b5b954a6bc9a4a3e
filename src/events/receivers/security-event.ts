import { signedJwt } from '../../platform/crypto/signed-jwt';
import { userStatus } from '../../users/user.entity';
import { webhookTestType } from '../event-types';
import type { ServiceEvent } from '../outbox/event';
import type { TokenSigner } from '../receiver-settings';

const caep = 'https://schemas.openid.net/secevent/caep/event-type';
const risc = 'https://schemas.openid.net/secevent/risc/event-type';
const verification = 'https://schemas.openid.net/secevent/ssf/event-type/verification';

type Data = Readonly<Record<string, unknown>> & { readonly detail?: Readonly<Record<string, unknown>> };
type Initiator = 'admin' | 'user' | 'policy' | 'system';

interface Meaning {
  readonly uri: string;
  /** Who acted when the event names nobody. */
  readonly by?: Initiator;
  readonly claims?: Readonly<Record<string, string>>;
  /** The subject is one session of the user. */
  readonly ofSession?: true;
}

const revoked = (by: Initiator, ofSession?: true): Meaning => ({
  ...{ uri: `${caep}/session-revoked`, by },
  ...(ofSession && { ofSession }),
});
const credential = (type: string, change: string, by: Initiator = 'user'): Meaning => ({
  ...{ uri: `${caep}/credential-change`, by },
  claims: { credential_type: type, change_type: change },
});

/** The events that have a meaning in CAEP 1.0 or RISC 1.0, by their type. A receiver of tokens gets no others. */
const meanings: Readonly<Record<string, Meaning>> = {
  'session.closed': revoked('user', true),
  'session.others_closed': revoked('user'),
  'session.closed_at_provider': revoked('system'),
  'session.refresh_token_reused': revoked('system', true),
  'user.tokens_revoked': revoked('admin'),
  'user.offboarding_started': revoked('admin'),
  'user.directory_sessions_ended': revoked('policy'),
  'user.password_changed': credential('password', 'update'),
  'user.password_set_by_operator': credential('password', 'update', 'admin'),
  'totp.enrolled': credential('app', 'create'),
  'totp.replaced': credential('app', 'update'),
  'totp.reset': credential('app', 'delete', 'admin'),
  'passkey.added': credential('passkey', 'create'),
  'passkey.removed': credential('passkey', 'delete'),
  'passkey.all_revoked': credential('passkey', 'revoke'),
  'user.deleted': { uri: `${risc}/account-purged` },
};
/** `user.status_changed`, by the new status. */
const statuses: Readonly<Record<string, Meaning>> = {
  [userStatus.disabled]: { uri: `${risc}/account-disabled` },
  [userStatus.enabled]: { uri: `${risc}/account-enabled` },
};

export const hasSecurityMeaning = (type: string): boolean => type in meanings || type === 'user.status_changed';

interface Envelope {
  readonly id: string;
  readonly replayOf: string | undefined;
  readonly audience: string;
  readonly now: Date;
}

/**
 * The event as a Security Event Token (RFC 8417), with the subject of RFC 9493. It has no `exp`, and its `typ` keeps it
 * from being taken for an access token or ID token.
 * @returns undefined for an event that has no meaning there
 */
export function securityEventToken(event: ServiceEvent, envelope: Envelope, signer: TokenSigner): string | undefined {
  const meant = event.type === webhookTestType ? { uri: verification } : meaningOf(event);
  const user = (event.data as Data).user_id;
  if (meant === undefined || (user === null && meant.uri !== verification)) return undefined;
  const claims = {
    iss: signer.issuer,
    aud: envelope.audience,
    iat: seconds(envelope.now),
    jti: envelope.id,
    ...(envelope.replayOf !== undefined && { txn: envelope.replayOf }),
    toe: seconds(new Date(event.timestamp)),
    sub_id: subjectOf(event.data, meant, signer.issuer) ?? { format: 'opaque', id: envelope.audience },
    events: { [meant.uri]: meant.uri === verification ? {} : claimsOf(event, meant) },
  };
  return signedJwt('secevent+jwt', claims, signer);
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

function meaningOf({ type, data }: ServiceEvent): Meaning | undefined {
  if (type === 'user.status_changed') return statuses[String((data as Data).detail?.to)];
  return meanings[type];
}

function subjectOf(data: Data, { ofSession }: Meaning, iss: string): object | undefined {
  if (typeof data.user_id !== 'string') return undefined;
  const user = { format: 'iss_sub', iss, sub: data.user_id };
  const sid = data.detail?.sid;
  if (!ofSession || typeof sid !== 'string') return user;
  return { format: 'complex', user, session: { format: 'opaque', id: sid } };
}

/** `event_timestamp` and `initiating_entity` are claims of CAEP. An event of RISC has none that we know. */
function claimsOf({ type, timestamp, data }: ServiceEvent, { uri, by, claims }: Meaning): object {
  if (!uri.startsWith(caep)) return {};
  const acted = typeof data.actor_id === 'string' && data.actor_id !== data.user_id ? 'admin' : by;
  return {
    event_timestamp: seconds(new Date(timestamp)),
    initiating_entity: acted,
    reason_admin: { en: type },
    ...claims,
  };
}
