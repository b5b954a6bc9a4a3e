import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../support/app';
import { HostileProvider } from '../support/hostile-provider';
import { Replicas } from '../support/replicas';
import { scimSettings } from '../support/scim/client';
import '../support/servers/slow-tests';

const rounds = 12;

interface Arrived {
  readonly cookie: string;
  /** The path and the query at which the browser comes back. */
  readonly callback: string;
}

/** A directory provisions people at one replica while they sign in at the other one (docs/spec/extensions.md#l). */
describe('provisioning by SCIM beside sign-ins, over two processes on MariaDB', () => {
  let provider: HostileProvider;
  let replicas: Replicas;
  let bearer: string;
  beforeAll(async () => {
    provider = await HostileProvider.start(() => new Date());
    const settings = { SCIM_USER_PROVIDER: 'oidc', SCIM_IDENTITY_PROVIDER: 'acme', RATE_LIMIT: 'off' };
    replicas = await Replicas.start({ ...scimSettings, ...settings });
    bearer = (await replicas.cli('client', 'create', 'entra', '--scim')).token as string;
    const folder = await mkdtemp(join(tmpdir(), 'provider-'));
    const file = join(folder, 'secret');
    await writeFile(file, provider.clientSecret);
    await replicas.cli(
      ...['idp', 'add', 'acme', '--name', 'Acme', '--issuer', provider.issuer, '--client-id', provider.clientId],
      ...['--client-secret-file', file, '--domain', 'acme.example', '--jit', '--match-claim', 'employee'],
    );
    await rm(folder, { recursive: true });
  });
  afterAll(async () => {
    await replicas?.stop();
    await provider?.stop();
  });

  const scim = async (n: number, method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await fetch(`${replicas.services[n % 2]!.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: {},
      body: text === '' ? undefined : JSON.parse(text),
      raw: Buffer.from(''),
    };
  };
  const change = (n: number, uid: string, value: object) =>
    scim(n, 'PATCH', `/Users/${uid}`, { Operations: [{ op: 'Replace', value }] });

  /** Somebody has signed in at the provider, and the browser is about to come back. */
  async function arrived(name: string, employee = `E-${name}`): Promise<Arrived> {
    const { status, body, headers } = await replicas.post('/login/external/acme', {});
    expect(status).toBe(200);
    const claims = { preferred_username: name, email: `${name}@acme.example`, name, employee };
    const query = provider.signIn(String(body.data.redirect_to), { sub: `sub-of-${name}`, ...claims });
    const cookie = String(headers['set-cookie']).split(';')[0]!;
    return { cookie, callback: `/login/external/acme/callback?${new URLSearchParams(query).toString()}` };
  }
  /** @returns `external`, the code for the pages, or `error` */
  async function callback(n: number, { cookie, callback }: Arrived): Promise<Record<string, string>> {
    const { url } = replicas.services[n % 2]!;
    const { status, headers } = await fetch(url + callback, { headers: { cookie }, redirect: 'manual' });
    expect(status).toBe(303);
    return Object.fromEntries(new URL(headers.get('location')!).searchParams);
  }
  const redeem = (n: number, code: string | undefined, { cookie }: Arrived) =>
    replicas.post('/login/external', { code }, n, { cookie });
  const lives = async (token: string) =>
    (await replicas.get('/user/me', 1, { authorization: `Bearer ${token}` })).status === 200;
  const outcomeOf = ({ status, body }: Answer) => (status === 200 ? 'success' : String(body.error_code));

  it(`T662 a creation beside the first sign-in of this person leaves one account, in ${rounds} rounds`, async () => {
    for (let n = 0; n < rounds; n++) {
      const name = `first-${n}`;
      const browser = await arrived(name);
      const create = () =>
        scim(n, 'POST', '/Users', {
          userName: name,
          externalId: `E-${name}`,
          emails: [{ value: `${name}@acme.example` }],
        });
      const both = n % 2 === 0 ? [create(), callback(n + 1, browser)] : [callback(n + 1, browser), create()];
      const results = await Promise.all(both);
      const made = results.find((one): one is Answer => 'status' in one)!;
      const { external, error } = results.find((one): one is Record<string, string> => !('status' in one))!;
      // Either SCIM was first, or the sign-in was and SCIM hears that the name is taken, and finds the user by it.
      expect([201, 409]).toContain(made.status);
      const [user, ...others] = await replicas.rows('SELECT uid, external_id FROM users WHERE login_name = ?', [name]);
      expect(others).toEqual([]);
      if (made.status === 201) expect(user).toEqual({ uid: made.body.id, external_id: `E-${name}` });
      if (external !== undefined) expect(outcomeOf(await redeem(n, external, browser))).toBe('success');
      else expect({ n, error, status: made.status }).toEqual({ n, error: 'LOGIN_404001', status: 201 });
      // Whoever was refused beside the creation comes again, and is bound to the account.
      const again = await arrived(name);
      const { external: code } = await callback(n, again);
      expect(outcomeOf(await redeem(n + 1, code, again))).toBe('success');
      const bound = await replicas.rows('SELECT user_id FROM external_identities WHERE subject = ?', [
        `sub-of-${name}`,
      ]);
      expect(bound).toEqual([{ user_id: user!.uid }]);
    }
  });

  it(`T663 a person who is disabled beside the sign-in at the provider has no session, in ${rounds} rounds`, async () => {
    const uid = (await scim(0, 'POST', '/Users', { userName: 'leaver', externalId: 'E-leaver' })).body.id as string;
    for (let n = 0; n < rounds; n++) {
      const browser = await arrived('leaver');
      const { external } = await callback(n, browser);
      const [disabled, answer] = await Promise.all([
        change(n, uid, { active: false }),
        redeem(n + 1, external, browser),
      ]);
      expect(disabled.status).toBe(200);
      // The code was ended, the status was read, or the session was opened and is over.
      expect(['success', 'LOGIN_401011', 'LOGIN_401013']).toContain(outcomeOf(answer));
      if (answer.status === 200) {
        const { access_token: access, refresh_token: refresh } = answer.body.data as Record<string, string>;
        expect(await lives(access!)).toBe(false);
        const header = { authorization: `Bearer ${refresh}` };
        expect((await replicas.post('/refresh', {}, n, header)).status).toBe(401);
      }
      expect((await change(n + 1, uid, { active: true })).status).toBe(200);
      expect(outcomeOf(await redeem(n, external, browser))).toBe('LOGIN_401013');
    }
  });

  it(`T664 changes beside sign-ins with a password are all made, and no sign-in undoes one, in ${rounds} rounds`, async () => {
    const uid = await replicas.givenUser('mover');
    for (let n = 0; n < rounds; n++) {
      const [before] = await replicas.rows('SELECT last_login_success_time AS at FROM users WHERE uid = ?', [uid]);
      const [changed, ...logins] = await Promise.all([
        change(n, uid, { displayName: `Mover ${n}`, externalId: `moved-${n}` }),
        ...[n + 1, n].map((at) => replicas.login('mover', undefined, at)),
      ]);
      expect(changed.status).toBe(200);
      for (const login of logins) {
        expect(outcomeOf(login)).toBe('success');
        expect(await lives(login.body.data.access_token as string)).toBe(true);
      }
      const [after] = await replicas.rows(
        'SELECT nickname, external_id, status, last_login_success_time AS at FROM users WHERE uid = ?',
        [uid],
      );
      expect(after).toMatchObject({ nickname: `Mover ${n}`, external_id: `moved-${n}`, status: 1 });
      expect((after!.at as Date).getTime()).toBeGreaterThan(((before!.at as Date | null) ?? new Date(0)).getTime());
    }
  });
});
