import { forbidden, goTo, ownForm } from '../../lib/forms';
import { portal } from '../../lib/portal';
import { beginSession, signedIn } from '../../lib/session';

/** The first step of a sign-in. */
export async function POST(request: Request): Promise<Response> {
  const field = await ownForm(request);
  if (field === undefined) return forbidden();
  const { data, code } = await portal.login(field('username'), field('password'), field('captcha_token'));
  if (data === undefined) return goTo(`/sign-in?problem=${code}`);
  if (data.change_password) return goTo('/sign-in?problem=change-password');
  const { access_token, refresh_token, user_info, mfa_type, mfa_token } = data;
  if (access_token !== null && refresh_token !== null) {
    await beginSession(signedIn({ access_token, refresh_token }));
    return goTo('/');
  }
  await beginSession({ kind: 'code', uid: user_info.uid, type: mfa_type, mfaToken: mfa_token });
  return goTo('/sign-in');
}
