import { tokenOf } from '../admin';
import { givenApplication, OpenIdBrowser } from '../openid';
import type { Recorder } from './recorder';
import { portal } from './sign-in-story';

/** Alice signs in to an application of another company, looks at what she has allowed, and takes it back. */
export async function applicationsStory(recorder: Recorder, bearer: string): Promise<void> {
  const { service } = recorder;
  const [theirs, closed] = [
    await givenApplication(service, { name: 'Timesheets', firstParty: false }),
    await givenApplication(service, { name: 'Payroll', allowedTenants: ['elsewhere'] }),
  ];
  const browser = new OpenIdBrowser(service, '/oidc', portal);
  const ask = async (application: typeof theirs) => {
    const { url } = await browser.authorize(application);
    const uid = url.searchParams.get('interaction')!;
    const path = `/applications/interactions/${uid}`;
    return { bearer, parameters: { uid }, headers: { origin: portal, cookie: browser.cookieHeader(path) } };
  };
  const asked = await ask(theirs);
  await recorder.call('getInteraction', asked);
  await recorder.call('getInteraction', { ...asked, headers: {} });
  await recorder.call('getInteraction', await ask(closed));
  await recorder.call('finishInteraction', { ...asked, body: {} });
  await recorder.call('finishInteraction', { ...asked, body: { consent: true } });

  const { grants } = (await recorder.call('listGrants', { bearer })).body.data as { grants: { id: string }[] };
  await recorder.call('endGrant', { bearer, parameters: { id: grants[0]!.id } });
  await recorder.call('endGrant', { bearer, parameters: { id: grants[0]!.id } });
  await receipts(recorder);
}

/** An administrator sees which applications were told of the end of a session. */
async function receipts(recorder: Recorder): Promise<void> {
  const { service } = recorder;
  const backchannelLogoutUri = 'https://wiki.example.com/backchannel-logout';
  const wiki = await givenApplication(service, { name: 'Wiki', backchannelLogoutUri });
  const olivia = await service.givenUser('olivia', { nickname: 'Olivia' });
  const access = await tokenOf(service, olivia);
  await new OpenIdBrowser(service, '/oidc', portal).signIn(wiki, access);
  await recorder.silent('logout', { bearer: access });
  const bearer = await tokenOf(service, await service.givenUser('auditor', { isAdmin: true, password: null }));
  const parameters = { uid: olivia.uid };
  await recorder.call('adminListUserLogouts', { bearer, parameters: { ...parameters, limit: 2 } });
  await recorder.call('adminListUserLogouts', { bearer, parameters: { ...parameters, limit: 0 } });
}
