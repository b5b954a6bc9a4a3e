import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { ApplicationAdministration } from '../../src/admin/application-administration';
import { operatorAuthority } from '../../src/admin/authority';
import { ApplicationSessions } from '../../src/applications/application-sessions.repository';
import { LogoutTokens } from '../../src/applications/logout-tokens';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { LogoutReceiver } from '../support/applications/logout-receiver';
import { askForTokens, callback, exchange, OpenIdBrowser, openIdSettings } from '../support/openid';
import { foreignId } from '../support/routes';

const grafana = {
  name: ' Grafana ',
  type: 'web',
  redirect_uris: ['https://grafana.example.com/login/generic_oauth'],
  backchannel_logout_uri: 'https://10.0.0.7/logout',
  audience: ['https://metrics.example.com'],
  first_party: true,
  allowed_tenants: ['acme'],
  logo_url: 'https://grafana.example.com/logo.svg',
  uri: 'https://grafana.example.com',
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('applications through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;

  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, ...openIdSettings });
    root = await AdminClient.of(service, 'root-admin');
    await root.send('POST', 'tenants', { id: 'acme', name: 'Acme' });
  });
  afterAll(() => service.stop());

  const created = async (more: object = {}) => {
    const answer = await root.send('POST', 'applications', { ...grafana, ...more });
    expect(outcomeOf(answer)).toBe('success');
    return answer.body.data as { id: string; client_secret: string | null };
  };
  const hashes = async (id: string) =>
    (
      await service.database.rows<object>('SELECT secret_hash, old_secret_hash FROM applications WHERE id = ?', [id])
    )[0];
  const newest = async () =>
    (
      await service.database.rows<{ event: string; actor_id: string; detail: string }>(
        'SELECT event, actor_id, detail FROM audit_logs ORDER BY id DESC LIMIT 1',
      )
    )[0]!;
  const audited = async () => {
    const { event, actor_id, detail } = await newest();
    expect(actor_id).toBe(root.uid);
    return [event, JSON.parse(detail)] as [string, object];
  };
  const state = async () => [await root.items('applications'), await service.count('audit_logs')];

  it('registers an application; its secret is shown once and stored as a hash', async () => {
    const { id, client_secret: secret, ...rest } = await created();
    expect(rest).toEqual({
      ...grafana,
      name: 'Grafana',
      post_logout_redirect_uris: [],
      scopes: ['openid', 'profile', 'email'],
      allowed_groups: [],
      enabled: true,
      old_secret_expires_at: null,
      created_at: service.clock.now().toISOString(),
      changed_at: service.clock.now().toISOString(),
    });
    expect(Buffer.from(secret!, 'base64url')).toHaveLength(32);
    expect(await hashes(id)).toEqual({ secret_hash: sha256(secret!), old_secret_hash: null });
    expect(await audited()).toEqual(['APPLICATION_CREATED', { application: id, name: 'Grafana', type: 'web' }]);
    const shown = { id, ...rest };
    expect((await root.get(`applications/${id}`)).body.data).toEqual(shown);
    expect(await root.items('applications')).toEqual([shown]);
    expect((await root.export('applications')).items).toEqual([shown]);
  });

  it('a secret is kept only by applications that run on servers', async () => {
    for (const [type, more] of [
      ['spa', {}],
      ['native', { redirect_uris: ['http://127.0.0.1/callback'] }],
    ] as const) {
      const { id, client_secret } = await created({ type, ...more });
      expect([client_secret, await hashes(id)]).toEqual([null, { secret_hash: null, old_secret_hash: null }]);
      const rotated = await root.send('POST', `applications/${id}/rotate-secret`);
      expect([outcomeOf(rotated), rotated.body.data.fields]).toEqual([
        'COMMON_400001',
        { type: [`type is ${type}: such an application has no secret`] },
      ]);
    }
    const service = await root.send('POST', 'applications', { name: 'Batch', type: 'service' });
    expect(service.body.data).toMatchObject({ scopes: [], redirect_uris: [], client_secret: expect.any(String) });
  });

  it('lists page by page, the newest first', async () => {
    service.clock.advanceSeconds(1);
    const { id } = await created({ name: 'Newest' });
    const all = (await root.items('applications')).map((item) => item.id as string);
    expect(all[0]).toBe(id);
    const seen: string[] = [];
    for (let after = ''; ;) {
      const { items, next } = (await root.get(`applications?limit=2${after}`)).body.data;
      seen.push(...(items as { id: string }[]).map((item) => item.id));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(seen).toEqual(all);
  });

  it('changes the given fields and no others; an empty text or null clears one', async () => {
    const { client_secret, ...before } = await created();
    const { id } = before;
    expect(client_secret).not.toBeNull();
    service.clock.advanceSeconds(1);
    const answer = await root.send('PATCH', `applications/${id}`, { enabled: false, uri: '', logo_url: null });
    expect(answer.body.data).toEqual({
      ...before,
      ...{ id, enabled: false, uri: null, logo_url: null, changed_at: service.clock.now().toISOString() },
    });
    expect(await audited()).toEqual([
      'APPLICATION_CHANGED',
      { application: id, fields: 'logo_url uri enabled', enabled: false },
    ]);
  });

  it('rotates the secret: the former one is kept as long as asked for, and only one of them', async () => {
    const { id, client_secret: first } = await created();
    const rotate = (body?: object) => root.send('POST', `applications/${id}/rotate-secret`, body);
    const second = (await rotate({ keep_old_seconds: 604_800 })).body.data;
    expect(second).toMatchObject({ id, old_secret_expires_at: service.clock.secondsFromNow(604_800).toISOString() });
    expect(await hashes(id)).toEqual({ secret_hash: sha256(second.client_secret), old_secret_hash: sha256(first!) });
    expect(await audited()).toEqual(['APPLICATION_SECRET_ROTATED', { application: id, keep_old_seconds: 604_800 }]);
    const again = await rotate({ keep_old_seconds: 60 });
    expect([outcomeOf(again), Object.keys(again.body.data.fields as object)]).toEqual([
      'COMMON_400001',
      ['keep_old_seconds'],
    ]);
    const third = (await rotate()).body.data;
    expect(third.old_secret_expires_at).toBeNull();
    expect(await hashes(id)).toEqual({ secret_hash: sha256(third.client_secret), old_secret_hash: null });
    await rotate({ keep_old_seconds: 60 });
    service.clock.advanceSeconds(60);
    expect(outcomeOf(await rotate({ keep_old_seconds: 60 }))).toBe('success');
  });

  it('deletes an application', async () => {
    const { id } = await created();
    expect((await root.send('DELETE', `applications/${id}`)).body.data).toEqual({ result: true });
    expect(await audited()).toEqual(['APPLICATION_DELETED', { application: id, name: 'Grafana' }]);
    expect(outcomeOf(await root.get(`applications/${id}`))).toBe('USER_404001');
  });

  it.each([
    [{ redirect_uris: ['https://a.example/cb', 'http://a.example/cb'] }, 'redirect_uris[1]'],
    [{ redirect_uris: [] }, 'redirect_uris'],
    [{ redirect_uris: 'https://a.example/cb' }, 'redirect_uris'],
    [{ redirect_uris: null }, 'redirect_uris'],
    [{ redirect_uris: [['https://a.example/cb']] }, 'redirect_uris[0]'],
    [{ post_logout_redirect_uris: ['https://a.example/*'] }, 'post_logout_redirect_uris[0]'],
    [{ backchannel_logout_uri: 'https://169.254.169.254/' }, 'backchannel_logout_uri'],
    [{ backchannel_logout_uri: 7 }, 'backchannel_logout_uri'],
    [{ scopes: ['root'] }, 'scopes[0]'],
    [{ audience: ['api'] }, 'audience[0]'],
    [{ allowed_tenants: ['acme', 'nowhere'] }, 'allowed_tenants[1]'],
    [{ allowed_tenants: ['acme '] }, 'allowed_tenants[0]'],
    [{ allowed_groups: [foreignId] }, 'allowed_groups[0]'],
    [{ name: '\u0000' }, 'name'],
    [{ name: null }, 'name'],
    [{ first_party: 'yes' }, 'first_party'],
    [{ enabled: null }, 'enabled'],
    [{ logo_url: 'javascript:alert(1)' }, 'logo_url'],
    [{ client_secret: 'own' }, 'client_secret'],
    [{ id: foreignId }, 'id'],
  ])('a wrong field (%#) is COMMON_400001, names the entry and changes nothing (T490)', async (body, field) => {
    const { id } = await created();
    const before = await state();
    for (const answer of [
      await root.send('POST', 'applications', { ...grafana, ...body }),
      await root.send('PATCH', `applications/${id}`, body),
    ]) {
      expect([outcomeOf(answer), Object.keys(answer.body.data.fields as object)]).toEqual(['COMMON_400001', [field]]);
    }
    expect(await state()).toEqual(before);
  });

  it('a type is needed at the registration and cannot be changed, and a change names a field', async () => {
    const { id } = await created();
    const wrong = async (answer: ReturnType<AdminClient['send']>) =>
      Object.keys((await answer).body.data.fields as object);
    expect(await wrong(root.send('POST', 'applications', { name: 'x' }))).toEqual(['type']);
    expect(await wrong(root.send('POST', 'applications', { ...grafana, type: 'other' }))).toEqual(['type']);
    expect(await wrong(root.send('PATCH', `applications/${id}`, { type: 'spa' }))).toEqual(['type']);
    expect(await wrong(root.send('PATCH', `applications/${id}`, {}))).toEqual(['body']);
    for (const keep_old_seconds of [-1, 604_801, 1.5, '60', null]) {
      expect(await wrong(root.send('POST', `applications/${id}/rotate-secret`, { keep_old_seconds }))).toEqual([
        'keep_old_seconds',
      ]);
    }
  });

  it('an unknown application is USER_404001, also the id of a known one and a space', async () => {
    const { id } = await created();
    const before = await state();
    for (const unknown of [foreignId, 'x', `${id}%20`, id.toUpperCase()]) {
      for (const answer of [
        await root.get(`applications/${unknown}`),
        await root.send('PATCH', `applications/${unknown}`, { name: 'x' }),
        await root.send('POST', `applications/${unknown}/rotate-secret`),
        await root.send('DELETE', `applications/${unknown}`),
      ]) {
        expect([unknown, outcomeOf(answer)]).toEqual([unknown, 'USER_404001']);
      }
    }
    expect(await state()).toEqual(before);
  });

  it('nothing changes when the audit row cannot be written', async () => {
    const { id } = await created();
    const before = await state();
    await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
    for (const answer of [
      await root.send('POST', 'applications', grafana),
      await root.send('PATCH', `applications/${id}`, { name: 'lost' }),
      await root.send('POST', `applications/${id}/rotate-secret`),
      await root.send('DELETE', `applications/${id}`),
    ]) {
      expect(outcomeOf(answer)).toBe('COMMON_503001');
    }
    await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
    expect(await state()).toEqual(before);
  });

  it('a page of an application asks for tokens from the origins of its redirect URIs, and no other page (T494)', async () => {
    const { id } = await created({
      type: 'spa',
      redirect_uris: ['https://spa.example.com/callback'],
      allowed_tenants: [],
    });
    const askFrom = (origin: string) =>
      service.send('POST', '/oidc/token', `grant_type=authorization_code&client_id=${id}&code=x&code_verifier=x`, {
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      });
    const own = await askFrom('https://spa.example.com');
    expect([own.headers['access-control-allow-origin'], own.body.error]).toEqual([
      'https://spa.example.com',
      'invalid_grant',
    ]);
    for (const origin of [
      'https://evil.example',
      'https://spa.example.com.evil.example',
      'http://spa.example.com',
      'null',
    ]) {
      const answer = await askFrom(origin);
      expect([origin, answer.headers['access-control-allow-origin'], answer.status]).toEqual([origin, undefined, 400]);
    }
  });

  it('what is registered, signs in with its secret and both secrets while the former one is kept; disabled, with none', async () => {
    const { id, client_secret: first } = await created({ redirect_uris: [callback], allowed_tenants: [] });
    const errorWith = async (secret: string) =>
      (await askForTokens(service, { id, secret }, { grant_type: 'authorization_code', code: 'x', code_verifier: 'x' }))
        .body.error as string;
    const rotated = await root.send('POST', `applications/${id}/rotate-secret`, { keep_old_seconds: 60 });
    const second = rotated.body.data.client_secret as string;
    expect([await errorWith(first!), await errorWith(second), await errorWith('wrong')]).toEqual([
      ...['invalid_grant', 'invalid_grant', 'invalid_client'],
    ]);
    service.clock.advanceSeconds(61);
    expect([await errorWith(first!), await errorWith(second)]).toEqual(['invalid_client', 'invalid_grant']);
    await root.send('PATCH', `applications/${id}`, { enabled: false });
    expect(await errorWith(second)).toBe('invalid_client');
  });

  it('one that is made with the id of a deleted one inherits nothing: no token, and no consent', async () => {
    await service.givenUser('hera');
    const { access } = await service.session('hera');
    const fields = { name: 'Notes', redirect_uris: [callback], scopes: ['openid', 'offline_access'] };
    const administration = service.app.get(ApplicationAdministration);
    const { application } = await administration.create(operatorAuthority, 'spa', fields);
    const { id } = application;
    const client = { id, secret: undefined };
    const ask = { scope: 'openid offline_access', prompt: 'consent' };
    const authorization = await new OpenIdBrowser(service).signIn(client, access, ask, true);
    const { body } = await exchange(service, client, authorization);
    const me = () => service.get('/oidc/me', { bearer: body.access_token as string });
    expect((await me()).status).toBe(200);
    await administration.remove(operatorAuthority, id);
    await administration.create(operatorAuthority, 'spa', fields, { id });
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string };
    expect((await askForTokens(service, client, refresh)).body.error).toBe('invalid_grant');
    expect((await me()).status).toBe(401);
    expect((await service.get('/user/grants', { bearer: access })).body.data.grants).toEqual([]);
  });

  it('one with an id that was made here does not look for what a deleted one has left, which reads a whole table', async () => {
    const left = jest.spyOn(service.app.get(ApplicationSessions, { strict: false }), 'removeAt');
    const { id } = await created();
    expect(left).not.toHaveBeenCalled();
    const administration = service.app.get(ApplicationAdministration);
    await administration.remove(operatorAuthority, id);
    await administration.create(operatorAuthority, 'spa', { name: 'Notes', redirect_uris: [callback] }, { id });
    expect(left).toHaveBeenCalledTimes(1);
    left.mockRestore();
  });

  it('one that is made with the id of a deleted one is not told of sessions at the deleted one, and is told of its own', async () => {
    const receiver = await LogoutReceiver.start();
    const administration = service.app.get(ApplicationAdministration);
    const tokens = service.app.get(LogoutTokens, { strict: false });
    await service.givenUser('iris');
    const fields = {
      ...{ name: 'Notes', redirect_uris: [callback], scopes: ['openid'], first_party: true },
      backchannel_logout_uri: receiver.uri('/logout'),
    };
    const { application } = await administration.create(operatorAuthority, 'spa', fields);
    const { id } = application;
    const sessions: string[] = [];
    const signIn = async (access: string) => {
      const { url } = await new OpenIdBrowser(service).signIn({ id, secret: undefined }, access, { scope: 'openid' });
      expect(url.searchParams.get('error')).toBeNull();
    };
    for (let n = 0; n < 3; n++) {
      const { access } = await service.session('iris');
      await signIn(access);
      sessions.push(access);
    }
    const [waits, lasts, returns] = sessions as [string, string, string];
    const end = (bearer: string) => service.post('/logout', undefined, { bearer });
    await end(waits);
    await administration.remove(operatorAuthority, id);
    service.clock.advanceSeconds(1);
    await administration.create(operatorAuthority, 'spa', fields, { id });
    await end(lasts);
    await tokens.sendDue();
    expect(receiver.seen).toEqual([]);
    expect(await tokens.figures()).toMatchObject({ waiting: 0 });
    await signIn(returns);
    await end(returns);
    await tokens.sendDue();
    expect(receiver.seen.map(({ claims }) => claims.sid)).toEqual([decodeJwt<{ sid: string }>(returns).sid]);
    await receiver.stop();
  });

  it('the tiles of a user: applications with an address, enabled, and allowed for the tenant (T492)', async () => {
    for (const { id } of await root.items('applications')) await root.send('DELETE', `applications/${id}`);
    const open = { allowed_tenants: [] };
    const second = await created({ name: 'B', ...open });
    const first = await created({ name: 'A', logo_url: null, ...open });
    const ofAcme = await created({ name: 'C' });
    await created({ name: 'No address', uri: null, ...open });
    await created({ name: 'Disabled', enabled: false, ...open });
    const tile = ({ id }: { id: string }, name: string, logo_url: string | null = grafana.logo_url) => ({
      ...{ id, name, logo_url, uri: grafana.uri },
    });
    const tilesOf = async (name: string, tenantId: string) => {
      await service.givenUser(name, { tenantId });
      const { access } = await service.session(name);
      return (await service.get('/user/applications', { bearer: access })).body.data.applications as object[];
    };
    expect(await tilesOf('ann', 'acme')).toEqual([tile(first, 'A', null), tile(second, 'B'), tile(ofAcme, 'C')]);
    expect(await tilesOf('otto', 'root')).toEqual([tile(first, 'A', null), tile(second, 'B')]);
  });
});
