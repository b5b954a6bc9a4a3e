import { forbidden, goTo, ownForm } from '../../../lib/forms';
import { portal } from '../../../lib/portal';
import { beginSession, sessionId, signedIn } from '../../../lib/session';
import { sessions } from '../../../lib/store';

/** The second factor. The server knows whose code it is, so the form has the code only. */
export async function POST(request: Request): Promise<Response> {
  const field = await ownForm(request);
  if (field === undefined) return forbidden();
  const id = await sessionId();
  const session = id === undefined ? undefined : await sessions().read(id);
  if (session?.kind !== 'code') return goTo('/sign-in');
  const { data, code } = await portal.verifyCode(session.uid, session.type, field('code'), session.mfaToken);
  if (data === undefined) return goTo(`/sign-in?problem=${code}`);
  await beginSession(signedIn(data));
  return goTo('/');
}
