import { type Answer, tally } from '../support/app';
import { SoftAuthenticator } from '../support/authenticator';
import { dataOf, origin, passkeySettings } from '../support/passkeys';
import { Replicas } from '../support/replicas';

/** The requests go to two processes in turn, so only the database can keep these guarantees. */
describe('passkeys over two processes on MariaDB', () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await Replicas.start(passkeySettings);
  });
  afterEach(async () => expect(await replicas.deadlocks()).toEqual([]));
  afterAll(() => replicas.stop());

  const burst = (count: number, run: (n: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const number = async (statement: string, uid: string) => Number((await replicas.rows(statement, [uid]))[0]?.n);
  const tokens = (uid: string) => number('SELECT COUNT(*) AS n FROM login_tokens WHERE user_identity = ?', uid);
  const passkeys = (uid: string) => number('SELECT COUNT(*) AS n FROM passkeys WHERE user_id = ?', uid);

  const options = async (access: string, n = 0) =>
    dataOf(await replicas.post('/passkeys/options', {}, n, bearer(access))).data;
  const add = (access: string, response: object, n = 0, name = 'Phone') =>
    replicas.post('/passkeys', { name, response }, n, bearer(access));
  const challenge = async (n = 0) => dataOf(await replicas.post('/login/passkey-options', {}, n)).data;
  const submit = (challenge_id: string, response: object, n = 0) =>
    replicas.post('/login/passkey', { challenge_id, response }, n);

  const given = async (name: string, synced = false) => {
    const uid = await replicas.givenUser(name);
    const access = dataOf(await replicas.login(name)).data.access_token as string;
    const authenticator = new SoftAuthenticator(origin, { synced });
    dataOf(await add(access, authenticator.create(await options(access)), 1));
    return { uid, access, authenticator };
  };

  it('a challenge of one process is answered at the other one, once: of 20 parallel answers, one gets a session (T294)', async () => {
    const { uid, authenticator } = await given('once', true);
    const before = await tokens(uid);
    const { challenge_id, options: request } = await challenge(0);
    const response = authenticator.get(request);
    const answers = await burst(20, (n) => submit(challenge_id as string, response, n + 1));
    expect(tally(answers)).toEqual({ success: 1, PASSKEY_401001: 19 });
    expect(await tokens(uid)).toBe(before + 2);
    expect(tally([await submit(challenge_id as string, authenticator.get(request), 1)])).toEqual({ PASSKEY_401001: 1 });
  });

  it('of 20 parallel logins with one counter, one wins and 19 are audited', async () => {
    const { uid, authenticator } = await given('counter');
    const logins = await Promise.all(Array.from({ length: 20 }, (_, n) => challenge(n)));
    const responses = logins.map((login) => authenticator.get(login.options, { counter: 9 }));
    const answers = await burst(20, (n) => submit(logins[n].challenge_id as string, responses[n]!, n + 1));
    expect(tally(answers)).toEqual({ success: 1, PASSKEY_401001: 19 });
    const refused = "SELECT COUNT(*) AS n FROM audit_logs WHERE user_id = ? AND event = 'PASSKEY_COUNTER_REFUSED'";
    expect(await number(refused, uid)).toBe(19);
  });

  it('of 30 parallel registrations, a user gets 20 passkeys in all (T299)', async () => {
    const { uid, access } = await given('limit');
    const responses: Record<string, any>[] = [];
    for (let n = 0; n < 30; n++) responses.push(new SoftAuthenticator(origin).create(await options(access, n)));
    const answers = await burst(30, (n) => add(access, responses[n]!, n));
    expect(tally(answers)).toEqual({ success: 19, PASSKEY_400001: 11 });
    expect(await passkeys(uid)).toBe(20);
  });

  it('of 20 parallel registrations of one credential, one succeeds', async () => {
    const [one, other] = [await given('twin-1'), await given('twin-2')];
    const credentialId = Buffer.alloc(32, 7);
    const created: [string, Record<string, any>][] = [];
    for (let n = 0; n < 20; n++) {
      const { access } = n % 2 === 0 ? one : other;
      created.push([access, new SoftAuthenticator(origin).create(await options(access), { credentialId })]);
    }
    // Two requests in turn to each process, so that both users reach both processes.
    expect(tally(await burst(20, (n) => add(...created[n]!, n >> 1)))).toEqual({ success: 1, PASSKEY_400001: 19 });
  });

  describe('the command line', () => {
    it('user passkeys prints them, and removes them with --revoke; revoke-tokens and reset-totp keep them', async () => {
      const { uid, authenticator } = await given('operated', true);
      const names = { uid, login_name: 'operated' };
      await replicas.cli('user', 'revoke-tokens', 'operated');
      await replicas.cli('user', 'reset-totp', 'operated');
      const login = await challenge();
      expect((await submit(login.challenge_id as string, authenticator.get(login.options))).status).toBe(200);
      expect(await replicas.cli('user', 'passkeys', 'operated')).toMatchObject([{ name: 'Phone', backed_up: true }]);
      expect(await replicas.cli('user', 'passkeys', uid, '--revoke')).toEqual({ ...names, revoked: 1 });
      expect(await replicas.cli('user', 'passkeys', 'operated')).toEqual([]);
      expect(await replicas.run(['user', 'passkeys', 'nobody'])).toMatchObject({ code: 1 });
      const late = await challenge();
      expect(tally([await submit(late.challenge_id as string, authenticator.get(late.options))])).toEqual({
        PASSKEY_401001: 1,
      });
    });
  });

  it('a wrong PASSKEY_RP_ID stops the start with one line', async () => {
    replicas.set({ PASSKEY_RP_ID: 'evil.example' });
    await expect(replicas.launch()).rejects.toThrow(/configuration: PASSKEY_RP_ID must be the host name of SYSTEM_URL/);
    replicas.set({ PASSKEY_RP_ID: '' });
  });
});
