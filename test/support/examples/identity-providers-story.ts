import { ExternalSignIns } from '../../../src/identity-providers/external-sign-ins.repository';
import {
  ProviderConnection,
  type ProviderFacts,
  type SignInRequest,
} from '../../../src/identity-providers/provider-connection';
import type { Recorder } from './recorder';

type Call = (operationId: string, ask?: Parameters<Recorder['call']>[1]) => ReturnType<Recorder['call']>;

/** Entra ID, as far as an administrator sees it: nobody goes there. */
const tenant = 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000';
const facts: ProviderFacts = {
  issuer: `${tenant}/v2.0`,
  authorizationEndpoint: `${tenant}/oauth2/v2.0/authorize`,
  tokenEndpoint: `${tenant}/oauth2/v2.0/token`,
  codeChallengeMethods: undefined,
  ...{ scopesSupported: undefined, claimsSupported: undefined, hasUserinfo: true, tellsLogout: false },
};

/** An administrator adds an identity provider, tries it, and moves a user there and back. */
export async function identityProvidersStory(
  recorder: Recorder,
  call: Call,
  list: (operationId: string) => Promise<void>,
  bearer: string,
): Promise<void> {
  const { service } = recorder;
  let state = '';
  const authorizationUrl = (_client: unknown, request: SignInRequest) => {
    state = request.state;
    return Promise.resolve(
      `${facts.authorizationEndpoint}?client_id=11111111-2222-3333-4444-555555555555&scope=openid`,
    );
  };
  const standIn = { discover: () => Promise.resolve(facts), authorizationUrl };
  Object.assign(service.app.get(ProviderConnection, { strict: false }), standIn);

  const fields = { name: 'Entra ID', issuer: facts.issuer, client_id: '11111111-2222-3333-4444-555555555555' };
  const secret = { client_secret: 'shown-once-at-entra', client_secret_expires: '2027-11-26T00:00:00Z' };
  const body = { id: 'entra', ...fields, ...secret, domains: ['example.net'], match_claim: 'oid' };
  const parameters = { id: 'entra' };
  await call('adminCreateIdentityProvider', { body });
  await call('adminCreateIdentityProvider', { body: { ...body, issuer: 'http://login.microsoftonline.com' } });
  await list('adminListIdentityProviders');
  await call('adminGetIdentityProvider', { parameters });
  await call('adminGetIdentityProvider', { parameters: { id: 'okta' } });
  await call('adminChangeIdentityProvider', { parameters, body: { trust_mfa: false } });
  await call('adminChangeIdentityProvider', { parameters, body: {} });
  await recorder.call('discoverSignIn', { body: { username: 'alice@example.net' } });
  await recorder.call('discoverSignIn', { body: {} });

  await call('adminTryIdentityProvider', { parameters });
  await call('adminTryIdentityProvider', { parameters: { id: 'okta' } });
  const code = 'YSBjb2RlIG9mIGEgdHJ5LCB3aGljaCBpcyByZWFkIG9uY2U';
  await service.database.affected('UPDATE external_sign_ins SET answered_at = created_at');
  const person = {
    loginName: 'alice',
    email: 'alice@example.net',
    nickname: 'Alice',
    externalId: 'oid-1',
    groups: null,
  };
  const claims = { iss: facts.issuer, sub: 'AAAAAAAAAAAAAAAAAAAAAIkz', oid: 'oid-1', preferred_username: 'alice' };
  const owner = { outcome: 'refused', userId: null, reason: 'the provider makes no account for this person' } as const;
  const tried = { claims, person, mfa: false, owner };
  await service.app.get(ExternalSignIns, { strict: false }).keepTry(state, code, tried);
  await call('adminReadIdentityProviderTry', { parameters, body: { code } });
  await call('adminReadIdentityProviderTry', { parameters, body: { code } });

  const oda = { login_name: 'oda', email: 'oda@example.net', provider: 'oidc', identity_provider: 'entra' };
  const { uid } = (await recorder.silent('adminCreateUser', { bearer, body: oda })).body.data as { uid: string };
  await call('adminChangeIdentityProvider', { parameters, body: { issuer: `${tenant}/v3.0` } });
  await call('adminDeleteIdentityProvider', { parameters });
  await call('adminMoveUser', { parameters: { uid }, body: { provider: 'password' } });
  await call('adminMoveUser', { parameters: { uid }, body: { provider: 'oidc' } });
  await recorder.silent('adminDeleteUser', { bearer, parameters: { uid } });
  await call('adminDeleteIdentityProvider', { parameters });
  await call('adminDeleteIdentityProvider', { parameters });
}
