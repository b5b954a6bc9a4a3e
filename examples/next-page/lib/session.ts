import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { cookies } from 'next/headers';
import { open, seal } from './seal';
import { type Answer, type Pair, portal } from './portal';
import { settings } from './settings';
import { type Session, sessions } from './store';

const secure = () => settings.origin().startsWith('https:');
/** A browser lets no other host and no plain page set a cookie `__Host-`. */
const cookieName = () => (secure() ? '__Host-session' : 'session');

/** Shorter than REFRESH_REUSE_GRACE_SECONDS of the service (10 s), and longer than a call of the service. */
const lockMs = () => settings.timeoutMs() + 3_000;
const lookEveryMs = 50;

/** The id in the cookie of this request. It says nothing about whether the session still exists. */
export async function sessionId(): Promise<string | undefined> {
  const cookie = (await cookies()).get(cookieName());
  return cookie === undefined ? undefined : open(cookie.value, 'cookie');
}

/** Always with a new id: the one of before may be known to somebody else. */
export async function beginSession(session: Session): Promise<void> {
  const before = await sessionId();
  if (before !== undefined) await sessions().remove(before);
  const id = randomBytes(32).toString('base64url');
  await sessions().create(id, session);
  const options = { httpOnly: true, secure: secure(), sameSite: 'lax', path: '/' } as const;
  (await cookies()).set(cookieName(), seal(id, 'cookie'), options);
}

export const signedIn = ({ access_token, refresh_token }: Pair): Session => ({
  kind: 'signed-in',
  access: access_token,
  refresh: refresh_token,
});

export async function endSession(): Promise<void> {
  const id = await sessionId();
  const session = id === undefined ? undefined : await sessions().read(id);
  if (id !== undefined) await sessions().remove(id);
  (await cookies()).delete(cookieName());
  if (session?.kind === 'signed-in') await portal.logout(session.refresh);
}

/** Calls the service as the user of this request. Undefined: nobody is signed in. */
export async function asUser<Data>(call: (access: string) => Promise<Answer<Data>>): Promise<Data | undefined> {
  const id = await sessionId();
  const session = id === undefined ? undefined : await sessions().read(id);
  if (id === undefined || session?.kind !== 'signed-in') return undefined;
  const answer = await call(session.access);
  if (answer.status !== 401) return answer.data;
  const renewed = await renew(id, session.access);
  return renewed === undefined ? undefined : (await call(renewed)).data;
}

/**
 * The next access token. Requests of all replicas that find the same token expired come here at once. One of them has the
 * lock and refreshes. The others wait for the lock, and find another token in the session.
 *
 * A replica that dies after the service has answered leaves the used refresh token behind. Its lock ends by itself, and the
 * next replica sends that token again, within the grace period, and gets the same successor.
 *
 * @param used the access token that the service has refused
 * @returns undefined when the session has ended
 */
async function renew(id: string, used: string): Promise<string | undefined> {
  for (let waited = 0; waited < 2 * lockMs(); waited += lookEveryMs) {
    const release = await sessions().lock(id, lockMs());
    if (release === undefined) {
      await pause(lookEveryMs);
      continue;
    }
    try {
      const session = await sessions().read(id);
      if (session?.kind !== 'signed-in') return undefined;
      if (session.access !== used) return session.access;
      const { data } = await portal.refresh(session.refresh);
      if (data === undefined) await sessions().remove(id);
      else await sessions().replace(id, signedIn(data));
      return data?.access_token;
    } finally {
      await release();
    }
  }
  throw new Error('another request refreshes the session, and does not come to an end');
}
