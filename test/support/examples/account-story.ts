import { ServiceClients } from '../../../src/introspection/service-client.repository';
import { password } from '../app';
import { goodPassword } from '../reset';
import type { Recorder } from './recorder';
import type { SignedIn } from './sign-in-story';

interface Session {
  readonly sid: string;
  readonly current: boolean;
}

/** Alice looks after her account, a service asks about her token, and she logs out. */
export async function accountStory(recorder: Recorder, { access, refresh }: SignedIn): Promise<void> {
  await introspection(recorder, access);
  await recorder.call('getCurrentUser', { bearer: access });
  await recorder.call('verifyRequest');
  await recorder.call('verifyRequest', { bearer: access, parameters: { admin: 'true' } });
  await recorder.call('getLoginHistory', { bearer: access, parameters: { limit: 2 } });

  const renewed = await recorder.call('refresh', { body: { refresh_token: refresh } });
  await recorder.call('refresh', { body: { refresh_token: 'not-a-token' } });
  const bearer = renewed.body.data.access_token as string;
  const { sessions } = (await recorder.call('listSessions', { bearer })).body.data as { sessions: Session[] };
  const { sid } = sessions.find(({ current }) => !current)!;
  await recorder.call('endSession', { bearer, parameters: { sid } });
  await recorder.call('endSession', { bearer, parameters: { sid } });
  await recorder.call('endOtherSessions', { bearer });

  await recorder.call('reauthenticate', { bearer, body: { password: 'Wrong-Horse-7' } });
  await recorder.call('reauthenticate', { bearer, body: { password } });

  const change = { current_password: password, password: goodPassword(2), confirm_password: goodPassword(2) };
  await recorder.call('changeOwnPassword', { bearer, body: {} });
  await recorder.call('changeOwnPassword', { bearer, body: { ...change, confirm_password: 'Other' } });
  const changed = await recorder.call('changeOwnPassword', { bearer, body: change });
  const now = changed.body.data.access_token as string;
  await recorder.call('logout', { bearer: now });
  await recorder.call('logout', { bearer: now });
}

/** The endpoint takes a form and answers without the envelope (RFC 7662). */
async function introspection(recorder: Recorder, token: string): Promise<void> {
  const { id, secret } = await recorder.service.app.get(ServiceClients).create('invoices');
  const headers = (right: string) => ({
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(`${id}:${right}`).toString('base64')}`,
  });
  const ask = (value: string) => new URLSearchParams({ token: value }).toString();
  await recorder.call('introspectToken', {
    ...{ name: 'active', summary: 'A token that is valid at this moment' },
    ...{ headers: headers(secret), body: ask(token) },
  });
  await recorder.call('introspectToken', {
    ...{ name: 'inactive', summary: 'Any other token' },
    ...{ headers: headers(secret), body: ask('example-of-another-token') },
  });
  await recorder.call('introspectToken', { headers: headers('wrong'), body: ask(token) });
  await recorder.call('introspectToken', { headers: headers(secret), body: '' });
}
