import { decodeJwt } from 'jose';
import { PasskeyRows } from '../../src/passkeys/persistence/passkey.repository';
import { type Answer, password } from '../support/app';
import { type AuthenticatorKind, type Deviation, SoftAuthenticator } from '../support/authenticator';
import { head } from '../support/cbor';
import { newMails } from '../support/reset';
import { dataOf, origin, PasskeyClient } from '../support/passkeys';

const refused = { status: 401, body: { error_code: 'PASSKEY_401001' } };
const day = 86_400;

type Owner = Awaited<ReturnType<PasskeyClient['givenPasskey']>>;

describe('POST /login/passkey', () => {
  let client: PasskeyClient;
  beforeAll(async () => {
    client = await PasskeyClient.start({ MFA_REQUIRED: 'true', RATE_LIMIT: 'off' });
  });
  afterAll(() => client.service.stop());

  const given = (kind: AuthenticatorKind = {}) => client.givenPasskey(undefined, kind);
  const logsOf = (uid: string) =>
    client.service.database.rows<{ provider: string; mfa: string; outcome: string }>(
      "SELECT provider, mfa, outcome FROM login_logs WHERE user_id = ? AND mfa = 'passkey' ORDER BY id",
      [uid],
    );
  const audits = async (uid: string, event: string) =>
    (
      await client.service.database.rows<{ detail: string }>(
        'SELECT detail FROM audit_logs WHERE user_id = ? AND event = ? ORDER BY id',
        [uid, event],
      )
    ).map(({ detail }) => JSON.parse(detail) as Record<string, unknown>);
  /** Everything that a refused assertion must not change. */
  const stateOf = async (uid: string) => ({
    user: await client.service.userRow(uid),
    passkeys: await client.service.database.rows('SELECT * FROM passkeys WHERE user_id = ?', [uid]),
    tokens: await client.service.count('login_tokens', 'user_identity = ?', [uid]),
  });
  const setStatus = (uid: string, status: number) =>
    client.service.database.affected('UPDATE users SET status = ? WHERE uid = ?', [status, uid]);

  describe('a right assertion', () => {
    it.each([
      ['ES256', 'none', false],
      ['ES256', 'packed', true],
      ['RS256', 'none', true],
      ['RS256', 'packed', false],
    ] as const)(
      'opens a session with both factors, although MFA_REQUIRED is set: %s, %s attestation, synced: %s',
      async (algorithm, attestation, synced) => {
        const { user, authenticator } = await given({ algorithm, attestation, synced });
        const { data } = dataOf(await client.logIn(authenticator));
        expect(data).toMatchObject({
          user_info: { uid: user.uid, login_name: user.loginName, email: user.email },
          tenants: [{ tenant_id: 'root' }],
          change_password: false,
          change_uid: null,
          mfa_required: false,
          mfa_token: null,
          device_token: null,
        });
        expect(decodeJwt(data.access_token as string)).toMatchObject({ sub: user.uid, amr: ['hwk', 'user', 'mfa'] });
        const me = await client.service.get('/user/me', { bearer: data.access_token as string });
        expect(me.body.data).toMatchObject({ uid: user.uid, passkeys: 1 });
        expect(await logsOf(user.uid)).toEqual([{ provider: 'password', mfa: 'passkey', outcome: 'success' }]);
      },
    );

    it('stores the language of the request, and leaves it where the request names none, or is refused', async () => {
      const { user, authenticator } = await given();
      const language = async () => (await client.service.userRow(user.uid)).language;
      const signIn = async (accepted: string | undefined, deviation: Deviation = {}) => {
        const { challenge_id, options } = await client.challenge();
        const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-language': accepted };
        return (await client.submit(challenge_id, authenticator.get(options, deviation), { headers })).status;
      };
      expect([await signIn('de-AT,de;q=0.9'), await language()]).toEqual([200, 'de']);
      for (const accepted of [undefined, 'fr', '*']) {
        expect([await signIn(accepted), await language()]).toEqual([200, 'de']);
      }
      expect([await signIn('zh', { flags: { uv: false } }), await language()]).toEqual([401, 'de']);
      expect([await signIn('zh'), await language()]).toEqual([200, 'zh-CN']);
    });

    it('resets the failure counter, sets the time of the last login and that of the last use', async () => {
      const { user, access, authenticator } = await given();
      await client.service.login(user.loginName, 'wrong');
      client.service.clock.advanceSeconds(5);
      dataOf(await client.logIn(authenticator));
      const now = client.service.clock.now().toISOString();
      expect(await client.service.userRow(user.uid)).toMatchObject({ login_failed_count: 0 });
      expect(await client.list(access)).toMatchObject([{ last_used_at: now }]);
    });

    it('opens a young session: the next step that needs one works', async () => {
      const { authenticator, access } = await given();
      client.service.clock.advanceSeconds(301);
      expect((await client.options(access)).body.error_code).toBe('AUTH_403002');
      const { data } = dataOf(await client.logIn(authenticator));
      expect((await client.options(data.access_token as string)).status).toBe(200);
    });

    it('works with each passkey of a user, and with an authenticator that counts and one that does not', async () => {
      const { user, access, authenticator } = await given();
      const synced = new SoftAuthenticator(origin, { synced: true });
      dataOf(await client.register(access, synced));
      for (let n = 0; n < 3; n++) {
        for (const one of [authenticator, synced]) {
          expect(dataOf(await client.logIn(one)).data.user_info.uid).toBe(user.uid);
        }
      }
      expect(await audits(user.uid, 'PASSKEY_COUNTER_REFUSED')).toEqual([]);
    });

    it('is also accepted when the challenge is 300 seconds old, and an expired password does not interrupt it', async () => {
      const { authenticator } = await given();
      client.service.clock.advanceSeconds(100 * day);
      const { challenge_id, options } = await client.challenge();
      client.service.clock.advanceSeconds(300);
      const { data } = dataOf(await client.submit(challenge_id, authenticator.get(options)));
      expect(data).toMatchObject({ change_password: false, access_token: expect.any(String) as string });
    });
  });

  it.each([
    ['stays on its device', false],
    ['can be copied', true],
  ])('a wrong signature of a passkey that %s is refused before a use is recorded (T292)', async (_name, synced) => {
    const { user, authenticator } = await given({ synced });
    const before = await stateOf(user.uid);
    const recordUse = jest.spyOn(client.service.app.get(PasskeyRows), 'recordUse');
    const forged = await client.logIn(authenticator, { signedData: Buffer.from('x') });
    const uses = [...recordUse.mock.calls];
    recordUse.mockRestore();
    expect({ forged, uses }).toMatchObject({ forged: refused, uses: [] });
    expect(await stateOf(user.uid)).toEqual(before);
    dataOf(await client.logIn(authenticator));
  });

  describe('an attack is PASSKEY_401001 and changes nothing (T292, T293, T295, T297)', () => {
    /** Signs the options of a login with a deviation, by the passkey of the owner. */
    const deviating = (name: string, deviation: Deviation | ((owner: Owner) => Deviation)) =>
      [
        name,
        (owner: Owner) =>
          client.logIn(owner.authenticator, typeof deviation === 'function' ? deviation(owner) : deviation),
      ] as const;

    it.each<readonly [string, (owner: Owner) => Promise<Answer>]>([
      deviating('a page of another origin', { origin: 'https://portal.evil.test' }),
      deviating('a sub-domain of the origin', { origin: 'https://a.portal.test' }),
      deviating('the origin on another port', { origin: `${origin}:8443` }),
      deviating('the origin without TLS', { origin: 'http://portal.test' }),
      deviating('a page that another origin has embedded', { clientData: { crossOrigin: true } }),
      deviating('a page below another origin', { clientData: { crossOrigin: true, topOrigin: 'https://evil.test' } }),
      deviating('another RP id', { rpId: 'evil.test' }),
      deviating('the RP id of the parent domain', { rpId: 'test' }),
      deviating('the client data of a registration', { type: 'webauthn.create' }),
      deviating('no type', { type: '' }),
      deviating('no user presence', { flags: { up: false } }),
      deviating('no user verification', { flags: { uv: false } }),
      deviating('neither presence nor verification', { flags: { up: false, uv: false } }),
      deviating('another challenge than the one that was issued', { challenge: 'A'.repeat(72) }),
      deviating('an empty challenge', { challenge: '' }),
      deviating('a signature over other data', { signedData: Buffer.from('something else') }),
      deviating('an origin that was changed after the signature', {
        origin: 'https://portal.evil.test',
        tamper: (data) => ({ ...data, origin }),
      }),
      deviating('the user handle of nobody', { userHandle: Buffer.from('nobody').toString('base64url') }),
      deviating('no user handle', { userHandle: null }),
      deviating('an empty user handle', { userHandle: '' }),
      deviating('a passkey that suddenly can be copied', { flags: { be: true } }),
      deviating('a passkey that is backed up and cannot be', { flags: { bs: true } }),
      deviating('extension data that is not there', { flags: { ed: true } }),
      deviating('extension data that is no CBOR', { flags: { ed: true }, extensions: Buffer.from('ffff', 'hex') }),
      deviating('extension data that is nested 5,000 times', {
        flags: { ed: true },
        extensions: Buffer.alloc(5000, 0x81),
      }),
      deviating('extension data that announces four billion entries', {
        flags: { ed: true },
        extensions: head(5, 0xffffffff),
      }),
      deviating('bytes after the authenticator data', { extensions: Buffer.alloc(1) }),
      [
        'the challenge of another login',
        async ({ authenticator }) => {
          const mine = await client.challenge();
          const other = await client.challenge();
          return client.submit(mine.challenge_id, authenticator.get(other.options));
        },
      ],
      [
        'the challenge of a registration',
        async ({ authenticator, access }) => {
          const { challenge_id, options } = await client.challenge();
          const { data } = dataOf(await client.options(access));
          return client.submit(challenge_id, authenticator.get({ ...options, challenge: data.challenge as string }));
        },
      ],
      [
        'a challenge that is 301 seconds old',
        async ({ authenticator }) => {
          const { challenge_id, options } = await client.challenge();
          client.service.clock.advanceSeconds(301);
          return client.submit(challenge_id, authenticator.get(options));
        },
      ],
      [
        'a challenge whose expiry was changed',
        async ({ authenticator }) => {
          const { challenge_id, options } = await client.challenge();
          const bytes = Buffer.from(options.challenge, 'base64url');
          bytes[21] = (bytes[21]! + 1) % 256;
          const response = authenticator.get({ ...options, challenge: bytes.toString('base64url') });
          return client.submit(challenge_id, response);
        },
      ],
      [
        'the passkey of the owner, signed by the key of an attacker',
        async ({ authenticator }) => {
          const attacker = await given();
          const [own] = attacker.authenticator.credentials;
          const stolen = { ...authenticator.credentials[0]!, key: own!.key };
          return client.logIn(attacker.authenticator, {}, stolen);
        },
      ],
      [
        'the passkey of an attacker with the user handle of the owner',
        async ({ authenticator }) => {
          const attacker = await given();
          return client.logIn(attacker.authenticator, { userHandle: authenticator.credentials[0]!.userHandle });
        },
      ],
      [
        'the passkey of the owner under the user handle of an attacker',
        async ({ authenticator }) => {
          const attacker = await given();
          return client.logIn(authenticator, { userHandle: attacker.authenticator.credentials[0]!.userHandle });
        },
      ],
      [
        'an id and a rawId of two passkeys',
        async ({ authenticator }) => {
          const { challenge_id, options } = await client.challenge();
          const response = authenticator.get(options);
          return client.submit(challenge_id, { ...response, rawId: 'AAAA' });
        },
      ],
      [
        'another type of credential',
        async ({ authenticator }) => {
          const { challenge_id, options } = await client.challenge();
          return client.submit(challenge_id, { ...authenticator.get(options), type: 'password' });
        },
      ],
    ])('%s', async (_name, attack) => {
      const owner = await given();
      const before = await stateOf(owner.user.uid);
      expect(await attack(owner)).toMatchObject(refused);
      expect(await stateOf(owner.user.uid)).toEqual(before);
    });

    it('a passkey that this service never registered, and nothing is written', async () => {
      const stranger = new SoftAuthenticator(origin);
      const handle = Buffer.from('stranger').toString('base64url');
      stranger.create({ challenge: 'x', rp: { id: 'portal.test' }, user: { id: handle } });
      const written = async () => [
        await client.service.count('passkey_challenges'),
        await client.service.count('login_logs'),
        await client.service.count('audit_logs'),
      ];
      const before = await written();
      for (let n = 0; n < 3; n++) expect(await client.logIn(stranger)).toMatchObject(refused);
      expect(await written()).toEqual(before);
    });

    it('the same challenge for the second time, with a new signature (T294)', async () => {
      const { authenticator } = await given();
      const { challenge_id, options } = await client.challenge();
      dataOf(await client.submit(challenge_id, authenticator.get(options)));
      expect(await client.submit(challenge_id, authenticator.get(options))).toMatchObject(refused);
    });

    it('the same challenge after a refused signature', async () => {
      const { authenticator } = await given();
      const { challenge_id, options } = await client.challenge();
      const wrong = authenticator.get(options, { signedData: Buffer.from('x') });
      expect(await client.submit(challenge_id, wrong)).toMatchObject(refused);
      expect(await client.submit(challenge_id, authenticator.get(options))).toMatchObject(refused);
    });

    it('the same challenge in another spelling of its base64url (T294)', async () => {
      const { authenticator } = await given();
      const { challenge_id, options } = await client.challenge();
      dataOf(await client.submit(challenge_id, authenticator.get(options)));
      for (const challenge of [`${options.challenge}=`, `${options.challenge}==`, ` ${options.challenge}`]) {
        expect(await client.submit(challenge_id, authenticator.get({ ...options, challenge }))).toMatchObject(refused);
      }
    });

    it('a passkey that its owner has removed (T301)', async () => {
      const { authenticator, access, id } = await given();
      await client.service.send('DELETE', `/passkeys/${id}`, undefined, { bearer: access });
      expect(await client.logIn(authenticator)).toMatchObject(refused);
    });

    it('a refused assertion leaves one login_logs row, and the account is never locked', async () => {
      const { user, authenticator } = await given();
      for (let n = 0; n < 5; n++) {
        expect(await client.logIn(authenticator, { flags: { uv: false } })).toMatchObject(refused);
      }
      expect(await logsOf(user.uid)).toEqual(
        Array(5).fill({ provider: 'password', mfa: 'passkey', outcome: 'PASSKEY_401001' }),
      );
      expect((await client.service.login(user.loginName)).status).toBe(200);
    });
  });

  it('the options name no user and no credential, whatever the request asks for, and each challenge differs (T302)', async () => {
    const { user, authenticator } = await given();
    const answers = [
      await client.service.post('/login/passkey-options', {}),
      await client.service.post('/login/passkey-options', { username: user.loginName, uid: user.uid }),
      await client.service.post('/login/passkey-options', { username: 'nobody at all' }),
    ];
    const challenges = new Set<string>();
    for (const answer of answers) {
      const { challenge_id, options } = dataOf(answer).data;
      challenges.add(options.challenge as string).add(challenge_id as string);
      expect(options.allowCredentials ?? []).toEqual([]);
      const { challenge, ...rest } = options as Record<string, unknown>;
      expect(rest).toEqual(expect.objectContaining({ rpId: 'portal.test', userVerification: 'required' }));
      expect(Object.keys(rest).sort()).toEqual(
        Object.keys(answers[0]!.body.data.options as object)
          .filter((key) => key !== 'challenge')
          .sort(),
      );
      const text = answer.raw.toString();
      for (const known of [
        user.uid,
        user.loginName,
        user.email!,
        authenticator.credentials[0]!.id.toString('base64url'),
      ])
        expect(text).not.toContain(known);
      expect(String(challenge)).toMatch(/^[\w-]{40,}$/);
    }
    expect(challenges.size).toBe(2 * answers.length);
  });

  describe('a counter that does not grow is refused and audited (T296)', () => {
    it.each([
      ['one less', 9],
      ['the same', 10],
      ['0, as if the authenticator did not count', 0],
    ])('%s', async (_name, counter) => {
      const { user, authenticator, id } = await given();
      dataOf(await client.logIn(authenticator, { counter: 10 }));
      const before = await stateOf(user.uid);
      expect(await client.logIn(authenticator, { counter })).toMatchObject(refused);
      expect(await stateOf(user.uid)).toEqual(before);
      expect(await audits(user.uid, 'PASSKEY_COUNTER_REFUSED')).toEqual([
        { passkey: id, stored: 10, presented: counter },
      ]);
      dataOf(await client.logIn(authenticator, { counter: 0xffffffff }));
    });

    it('but a wrong signature with a low counter tells nothing about the authenticator', async () => {
      const { user, authenticator } = await given();
      dataOf(await client.logIn(authenticator, { counter: 10 }));
      const forged = { counter: 3, signedData: Buffer.from('x') };
      expect(await client.logIn(authenticator, forged)).toMatchObject(refused);
      expect(await audits(user.uid, 'PASSKEY_COUNTER_REFUSED')).toEqual([]);
    });

    it('of a passkey that is removed at that moment: refused, and there is nothing to audit', async () => {
      const { user, authenticator, id } = await given();
      const rows = client.service.app.get(PasskeyRows);
      const recordUse = rows.recordUse.bind(rows);
      jest.spyOn(rows, 'recordUse').mockImplementationOnce(async (...use) => {
        await client.service.database.affected('DELETE FROM passkeys WHERE id = ?', [id]);
        return recordUse(...use);
      });
      expect(await client.logIn(authenticator, { counter: 10 })).toMatchObject(refused);
      expect(await audits(user.uid, 'PASSKEY_COUNTER_REFUSED')).toEqual([]);
    });

    it('a passkey that begins to count may do so, and may not stop again', async () => {
      const { user, authenticator } = await given({ synced: true });
      dataOf(await client.logIn(authenticator));
      dataOf(await client.logIn(authenticator, { counter: 5 }));
      expect(await client.logIn(authenticator, { counter: 0 })).toMatchObject(refused);
      expect(await audits(user.uid, 'PASSKEY_COUNTER_REFUSED')).toHaveLength(1);
    });
  });

  describe('a malformed request', () => {
    it.each<[string, unknown, unknown]>([
      ['no challenge_id', undefined, {}],
      ['a challenge_id that is a number', 5, {}],
      ['no response', 'x', undefined],
      ['a response that is null', 'x', null],
      ['a response that is a text', 'x', 'response'],
      ['a response that is a list', 'x', []],
    ])('%s is COMMON_400001', async (_name, challengeId, response) => {
      expect(await client.submit(challengeId, response)).toMatchObject({ body: { error_code: 'COMMON_400001' } });
    });

    const junk = [undefined, null, 0, true, '', 'ä', '!!', 'A', 'AAAA', [], {}, [[]], 'A'.repeat(5000)];
    it.each([
      ['id', (response: any, value: unknown) => ({ ...response, id: value, rawId: value })],
      ['rawId', (response: any, value: unknown) => ({ ...response, rawId: value })],
      ['type', (response: any, value: unknown) => ({ ...response, type: value })],
      ['response', (response: any, value: unknown) => ({ ...response, response: value })],
      ...['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'].map(
        (field) =>
          [
            field,
            (response: any, value: unknown) => ({ ...response, response: { ...response.response, [field]: value } }),
          ] as const,
      ),
    ] as const)('%s may be anything: the answer is PASSKEY_401001', async (_field, replaced) => {
      const { user, authenticator } = await given();
      const before = await stateOf(user.uid);
      for (const value of junk) {
        const { challenge_id, options } = await client.challenge();
        const answer = await client.submit(challenge_id, replaced(authenticator.get(options), value));
        expect({ value, answer: answer.body.error_code }).toEqual({ value, answer: 'PASSKEY_401001' });
      }
      expect(await stateOf(user.uid)).toEqual(before);
    });

    it.each(['null', '[]', '"text"', '{}', '{"type":"webauthn.get"}', '{', '\0'])(
      'client data %j is PASSKEY_401001',
      async (text) => {
        const { authenticator } = await given();
        const { challenge_id, options } = await client.challenge();
        const response = authenticator.get(options);
        response.response.clientDataJSON = Buffer.from(text).toString('base64url');
        expect(await client.submit(challenge_id, response)).toMatchObject(refused);
      },
    );

    it('a request of more than 16 KiB is COMMON_413001', async () => {
      const answer = await client.submit('x', { response: 'A'.repeat(17_000) });
      expect(answer).toMatchObject({ status: 413, body: { error_code: 'COMMON_413001' } });
    });
  });

  describe('the account is judged as at /login', () => {
    it.each([
      ['disabled', -1, 'LOGIN_401011'],
      ['not enabled', 0, 'LOGIN_401012'],
      ['expired', -2, 'LOGIN_401012'],
    ])('an account that is %s (%i): %s, and no token is issued (T301)', async (_name, status, code) => {
      const { user, authenticator } = await given();
      await setStatus(user.uid, status);
      const before = (await stateOf(user.uid)).tokens;
      expect(await client.logIn(authenticator)).toMatchObject({ status: 401, body: { error_code: code } });
      expect(await client.service.userRow(user.uid)).toMatchObject({ status });
      expect((await stateOf(user.uid)).tokens).toBe(before);
      expect(await logsOf(user.uid)).toEqual([{ provider: 'password', mfa: 'passkey', outcome: code }]);
    });

    it('only its owner learns the state: a wrong signature for a disabled account is PASSKEY_401001 (T301)', async () => {
      const { user, authenticator } = await given();
      await setStatus(user.uid, -1);
      expect(await client.logIn(authenticator, { signedData: Buffer.from('x') })).toMatchObject(refused);
    });

    it('a locked account is LOGIN_401004 until the lock ends, and neither counter nor time moves', async () => {
      const { user, authenticator } = await given();
      for (let n = 0; n < 3; n++) await client.service.login(user.loginName, 'wrong');
      const locked = await client.service.userRow(user.uid);
      client.service.clock.advanceSeconds(100);
      expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: 'LOGIN_401004' } });
      expect(await client.service.userRow(user.uid)).toEqual(locked);
      client.service.clock.advanceSeconds(801);
      dataOf(await client.logIn(authenticator));
    });

    it('a disabled account that is locked is LOGIN_401004', async () => {
      const { user, authenticator } = await given();
      for (let n = 0; n < 3; n++) await client.service.login(user.loginName, 'wrong');
      await setStatus(user.uid, -1);
      expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: 'LOGIN_401004' } });
    });

    it('an account unused for 181 days is LOGIN_401008', async () => {
      const { authenticator } = await given();
      client.service.clock.advanceSeconds(181 * day);
      expect(await client.logIn(authenticator)).toMatchObject({ body: { error_code: 'LOGIN_401008' } });
    });

    it('a user of an identity provider is PASSKEY_401001: nobody would notice that the person has left', async () => {
      const { user, authenticator } = await given();
      await client.service.database.affected(
        "UPDATE users SET provider = 'oidc', identity_provider_id = 'acme' WHERE uid = ?",
        [user.uid],
      );
      const before = await stateOf(user.uid);
      expect(await client.logIn(authenticator)).toMatchObject(refused);
      expect(await stateOf(user.uid)).toMatchObject({ user: before.user, tokens: before.tokens });
    });

    it('a deleted user is PASSKEY_401001', async () => {
      const { user, authenticator } = await given();
      await client.service.database.affected('DELETE FROM users WHERE uid = ?', [user.uid]);
      expect(await client.logIn(authenticator)).toMatchObject(refused);
    });

    it('a temporary password interrupts the login: change_uid sets a password, then the passkey logs in', async () => {
      const { user, authenticator } = await given();
      await client.service.database.affected('UPDATE users SET must_change_password = 1 WHERE uid = ?', [user.uid]);
      const { data } = dataOf(await client.logIn(authenticator));
      expect(data).toMatchObject({
        access_token: null,
        change_password: true,
        mfa_required: false,
        user_info: { uid: user.uid, nickname: null },
      });
      const link = await client.service.get(`/user/change-pwd-req/${data.change_uid as string}`);
      expect(link.body.data).toMatchObject({ type: 0 });
      const next = `${password}-next`;
      const change = { req_uid: data.change_uid as string, password: next, confirm_password: next };
      expect((await client.service.post('/user/change-pwd-by-req', change)).status).toBe(200);
      expect(dataOf(await client.logIn(authenticator)).data.access_token).toEqual(expect.any(String));
    });

    it('a password reset and the end of all sessions keep the passkey', async () => {
      const { user, authenticator } = await given();
      await client.service.database.affected(
        'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?',
        [user.uid],
      );
      dataOf(await client.logIn(authenticator));
    });
  });

  describe('settings', () => {
    const routes = [
      ['POST', '/login/passkey-options'],
      ['POST', '/login/passkey'],
      ['POST', '/passkeys/options'],
      ['POST', '/passkeys'],
      ['GET', '/passkeys'],
      ['PATCH', '/passkeys/6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab'],
      ['DELETE', '/passkeys/6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab'],
    ] as const;

    it.each([
      ['PASSKEYS=off', { PASSKEYS: 'off' }],
      ['an IP address in SYSTEM_URL', { SYSTEM_URL: 'http://127.0.0.1:3000' }],
    ])('with %s, every endpoint is COMMON_404001 and /capabilities says false', async (_name, settings) => {
      const off = await PasskeyClient.start(settings);
      try {
        for (const [method, path] of routes) {
          const answer = await off.service.send(method, path, method === 'GET' ? undefined : {});
          expect({ path, answer }).toMatchObject({ path, answer: { body: { error_code: 'COMMON_404001' } } });
        }
        expect((await off.service.get('/capabilities')).body.data.passkeys).toBe(false);
      } finally {
        await off.service.stop();
      }
    });

    it('with them on, /capabilities says true', async () =>
      expect((await client.service.get('/capabilities')).body.data.passkeys).toBe(true));

    it('PASSKEY_RP_ID may be a domain above the host; the origin stays that of SYSTEM_URL', async () => {
      const settings = { SYSTEM_URL: 'https://login.corp.test', PASSKEY_RP_ID: 'corp.test' };
      const other = await PasskeyClient.start(settings);
      try {
        await other.service.givenUser('ann');
        const { access } = await other.service.session('ann');
        const own = new SoftAuthenticator('https://login.corp.test');
        dataOf(await other.register(access, own));
        expect((await other.challenge()).options.rpId).toBe('corp.test');
        dataOf(await other.logIn(own));
        expect(await other.logIn(own, { origin: 'https://corp.test' })).toMatchObject(refused);
        expect(await other.logIn(own, { rpId: 'login.corp.test' })).toMatchObject(refused);
      } finally {
        await other.service.stop();
      }
    });

    it('HIDE_ACCOUNT_EXISTENCE conceals nothing from the owner: a locked account is LOGIN_401004', async () => {
      const other = await PasskeyClient.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
      try {
        const { user, authenticator } = await other.givenPasskey('ann');
        for (let n = 0; n < 3; n++) await other.service.login(user.loginName, 'wrong');
        expect(await other.logIn(authenticator)).toMatchObject({ body: { error_code: 'LOGIN_401004' } });
        expect(await other.logIn(authenticator, { flags: { uv: false } })).toMatchObject(refused);
      } finally {
        await other.service.stop();
      }
    });

    it.each(['passkey_challenges', 'passkeys'])(
      'a database that cannot answer about %s is 503, neither a refusal nor a session',
      async (table) => {
        const other = await PasskeyClient.start();
        try {
          const { user, authenticator } = await other.givenPasskey('ann');
          const tokens = () => other.service.count('login_tokens', 'user_identity = ?', [user.uid]);
          const before = await tokens();
          await other.service.database.affected(`DROP TABLE ${table}`);
          const answer = await other.logIn(authenticator);
          expect(answer).toMatchObject({ status: 503, body: { error_code: 'COMMON_503001' } });
          expect(await tokens()).toBe(before);
        } finally {
          await other.service.stop();
        }
      },
    );

    it('NEW_SIGN_IN_NOTICE: a passkey login from a new browser sends the mail', async () => {
      const other = await PasskeyClient.start({ NEW_SIGN_IN_NOTICE: 'true', SMTP_URL: '' });
      try {
        const { authenticator } = await other.givenPasskey('ann');
        await newMails(other.service);
        const { challenge_id, options } = await other.challenge();
        const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
        const headers = { 'user-agent': firefox };
        dataOf(await other.submit(challenge_id, authenticator.get(options), { headers }));
        expect((await newMails(other.service)).map(({ subject }) => subject)).toEqual(['New sign-in to your account']);
      } finally {
        await other.service.stop();
      }
    });
  });
});
