import { redirect } from 'next/navigation';
import { portal } from '../lib/portal';
import { asUser } from '../lib/session';

/** The browser never has a token: this runs on the server, which has them. */
export default async function Account() {
  const me = await asUser((access) => portal.me(access));
  if (me === undefined) redirect('/sign-in');
  return (
    <>
      <h1>Hello, {me.login_name}</h1>
      <p>{me.email}</p>
      <form action="/session/end" method="post">
        <button>Sign out</button>
      </form>
    </>
  );
}
