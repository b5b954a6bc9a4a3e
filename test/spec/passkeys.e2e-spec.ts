import { type MailKind, openMail, type QueuedMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { PasskeyRows } from '../../src/passkeys/persistence/passkey.repository';
import type { NewUser } from '../../src/users/user-accounts';
import type { User } from '../../src/users/user.entity';
import type { Answer } from '../support/app';
import { type Deviation, SoftAuthenticator } from '../support/authenticator';
import { cbor, head } from '../support/cbor';
import { everything, isEverythingOn } from '../support/everything';
import { dataOf, origin, PasskeyClient } from '../support/passkeys';

const refused = { status: 400, body: { error_code: 'PASSKEY_400001' } };
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const foreignId = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';

describe('/passkeys', () => {
  let client: PasskeyClient;
  beforeAll(async () => {
    client = await PasskeyClient.start();
  });
  afterAll(() => client.service.stop());

  let names = 0;
  const givenSession = async (more: Partial<NewUser> = {}) => {
    const user = await client.service.givenUser(`user-${++names}`, more);
    return { user, access: await client.openSession(user) };
  };
  const count = (uid: string) => client.service.count('passkeys', 'user_id = ?', [uid]);
  const audits = (uid: string, event: string) =>
    client.service.count('audit_logs', 'user_id = ? AND event = ?', [uid, event]);
  const mailsTo = async (user: User, kind: MailKind): Promise<QueuedMail[]> => {
    const keys = client.service.app.get(KeyRing);
    const rows = await client.service.database.rows<{ payload: string }>(
      'SELECT payload FROM mail_outbox WHERE kind = ? AND payload IS NOT NULL',
      [kind],
    );
    return rows.map(({ payload }) => openMail(keys, payload)).filter(({ to }) => to === user.email);
  };
  const rename = (access: string, id: string, name: unknown) =>
    client.service.send('PATCH', `/passkeys/${id}`, { name }, { bearer: access });
  const remove = (access: string, id: string) =>
    client.service.send('DELETE', `/passkeys/${id}`, undefined, { bearer: access });

  describe('adding one', () => {
    it('the options name the account, ask for a discoverable and verified credential, and for no attestation', async () => {
      const { user, access } = await givenSession();
      const { data } = dataOf(await client.options(access));
      expect(data).toMatchObject({
        rp: { id: 'portal.test', name: isEverythingOn ? everything.BRAND_NAME : 'portal.test' },
        user: {
          id: Buffer.from(user.uid).toString('base64url'),
          name: user.loginName,
          displayName: user.nickname,
        },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'required', userVerification: 'required', requireResidentKey: true },
      });
      expect(Buffer.from(data.challenge as string, 'base64url').length).toBeGreaterThanOrEqual(32);
    });

    it('a browser that does not say whether the page is embedded may add one and log in', async () => {
      const { access } = await givenSession();
      const authenticator = new SoftAuthenticator(origin);
      const silent = { clientData: { crossOrigin: undefined } };
      dataOf(await client.register(access, authenticator, 'Phone', silent));
      dataOf(await client.logIn(authenticator, silent));
    });

    it.each([
      ['ES256', 'none', false],
      ['ES256', 'packed', true],
      ['RS256', 'none', true],
      ['RS256', 'packed', false],
    ] as const)(
      '%s, %s attestation, synced: %s: it is listed, counted and audited',
      async (algorithm, attestation, synced) => {
        const { user, access } = await givenSession();
        const kind = { algorithm, attestation, synced };
        const { data } = dataOf(await client.register(access, new SoftAuthenticator(origin, kind), 'My phone 📱'));
        const now = client.service.clock.now().toISOString();
        expect(data).toEqual({ id: expect.stringMatching(uuid) as string, name: 'My phone 📱', created_at: now });
        expect(await client.list(access)).toEqual([{ ...data, last_used_at: null, backed_up: synced }]);
        expect((await client.service.get('/user/me', { bearer: access })).body.data.passkeys).toBe(1);
        expect(await audits(user.uid, 'PASSKEY_ADDED')).toBe(1);
      },
    );

    it('a mail tells the owner, without the name, and a user without an address gets none (T298)', async () => {
      const { user, access } = await givenSession();
      dataOf(await client.register(access, new SoftAuthenticator(origin), 'Call +1 555 0100'));
      const mails = await mailsTo(user, 'passkey-changed');
      expect(mails).toMatchObject([{ added: true, ip: '127.0.0.1' }]);
      expect(JSON.stringify(mails)).not.toContain('555 0100');
      const silent = await givenSession({ email: null });
      dataOf(await client.register(silent.access, new SoftAuthenticator(origin)));
      expect(await count(silent.user.uid)).toBe(1);
    });

    it('a directory user may have passkeys', async () => {
      const { access } = await givenSession({ provider: 'ldap' });
      expect((await client.register(access, new SoftAuthenticator(origin))).status).toBe(200);
    });

    it('a user of an identity provider gets no options, also as an administrator: AUTH_403001', async () => {
      for (const isAdmin of [false, true]) {
        const of = { provider: 'oidc', identityProviderId: 'acme', password: null, isAdmin } as const;
        const { user, access } = await givenSession(of);
        expect(await client.options(access)).toMatchObject({ status: 403, body: { error_code: 'AUTH_403001' } });
        expect(await count(user.uid)).toBe(0);
      }
    });

    it('excludeCredentials names those that the user has, so that an authenticator makes no second one', async () => {
      const { access } = await givenSession();
      const authenticator = new SoftAuthenticator(origin);
      dataOf(await client.register(access, authenticator));
      const { data } = dataOf(await client.options(access));
      const [credential] = authenticator.credentials;
      expect(data.excludeCredentials).toEqual([
        { id: credential!.id.toString('base64url'), type: 'public-key', transports: ['hybrid', 'internal'] },
      ]);
    });

    it('a name has 1 to 64 characters, spaces at its ends do not count, and another one is COMMON_400001', async () => {
      const { access } = await givenSession();
      const { data } = dataOf(await client.options(access));
      const response = new SoftAuthenticator(origin).create(data);
      for (const name of [null, '', ' ', 5, {}, 'x'.repeat(65), 'a\nb', 'a\0b']) {
        const answer = await client.add(access, response, name);
        expect({ name, body: answer.body }).toMatchObject({
          name,
          body: { error_code: 'COMMON_400001', data: { fields: { name: [expect.any(String)] } } },
        });
      }
      expect(dataOf(await client.add(access, response, ` ${'é'.repeat(62)} `)).data.name).toBe('é'.repeat(62));
    });

    it('needs a young session for the options: AUTH_403002 after 300 seconds, also with a refreshed token (T298)', async () => {
      const { user } = await givenSession();
      const { access, refresh } = await client.service.session(user.loginName);
      client.service.clock.advanceSeconds(301);
      const { data } = dataOf(await client.service.post('/refresh', undefined, { bearer: refresh }));
      for (const bearer of [access, data.access_token as string]) {
        expect(await client.options(bearer)).toMatchObject({ status: 403, body: { error_code: 'AUTH_403002' } });
      }
    });

    it('and the challenge of a young session can still be answered when the session has become old', async () => {
      const { access } = await givenSession();
      client.service.clock.advanceSeconds(299);
      const { data } = dataOf(await client.options(access));
      client.service.clock.advanceSeconds(300);
      expect((await client.add(access, new SoftAuthenticator(origin).create(data))).status).toBe(200);
    });
  });

  describe('an attack is PASSKEY_400001 and adds nothing (T292, T297)', () => {
    const deviating = (name: string, deviation: Deviation) =>
      [
        name,
        ({ access }: { access: string }) =>
          client.register(access, new SoftAuthenticator(origin, { attestation: 'packed' }), 'x', deviation),
      ] as const;
    const attestation = (more: Record<string, any>) =>
      cbor(
        new Map(
          Object.entries({ fmt: 'none', attStmt: new Map<string, string>(), authData: Buffer.alloc(37), ...more }),
        ),
      );

    it.each<readonly [string, (owner: { user: User; access: string }) => Promise<Answer>]>([
      deviating('a page of another origin', { origin: 'https://portal.evil.test' }),
      deviating('the origin without TLS', { origin: 'http://portal.test' }),
      deviating('a page that another origin has embedded', { clientData: { crossOrigin: true } }),
      deviating('another RP id', { rpId: 'evil.test' }),
      deviating('the client data of a login', { type: 'webauthn.get' }),
      deviating('no user presence', { flags: { up: false } }),
      deviating('no user verification', { flags: { uv: false } }),
      deviating('no credential in the authenticator data', { flags: { at: false } }),
      deviating('a passkey that is backed up and cannot be', { flags: { bs: true } }),
      deviating('an invented challenge', { challenge: 'A'.repeat(72) }),
      deviating('a self attestation over other data', { signedData: Buffer.from('x') }),
      deviating('an origin that was changed after the signature', {
        origin: 'https://portal.evil.test',
        tamper: (data) => ({ ...data, origin }),
      }),
      deviating('an attestation with a certificate that is none', {
        fmt: 'packed',
        attStmt: new Map<string, any>([
          ['alg', -7],
          ['sig', Buffer.alloc(70)],
          ['x5c', [Buffer.alloc(500)]],
        ]),
      }),
      ...['tpm', 'android-key', 'android-safetynet', 'apple', 'fido-u2f', 'own', ''].map((fmt) =>
        deviating(`an attestation of the format ${fmt || 'without a name'}`, { fmt }),
      ),
      deviating('a statement in an attestation without one', { fmt: 'none', attStmt: new Map([['x', 1]]) }),
      deviating('an empty id of a credential', { credentialId: Buffer.alloc(0) }),
      deviating('an id of a credential of 1,024 bytes', { credentialId: Buffer.alloc(1024, 1) }),
      deviating('no attestation', { attestationObject: Buffer.alloc(0) }),
      deviating('an attestation that is no CBOR', { attestationObject: Buffer.from('ffffffff', 'hex') }),
      deviating('an attestation that is a number', { attestationObject: cbor(5) }),
      deviating('an attestation without fields', { attestationObject: cbor(new Map()) }),
      deviating('an attestation that is cut off', { attestationObject: attestation({}).subarray(0, 20) }),
      deviating('authenticator data that is too short', { attestationObject: attestation({}) }),
      deviating('authenticator data that is a text', { attestationObject: attestation({ authData: 'x'.repeat(60) }) }),
      deviating('CBOR that is nested 8,000 times', { attestationObject: Buffer.alloc(8000, 0x81) }),
      deviating('a map that announces four billion entries', { attestationObject: head(5, 0xffffffff) }),
      deviating('bytes that announce four gigabytes', { attestationObject: head(2, 0xffffffff) }),
      [
        'the challenge of another user',
        async ({ access }) => {
          const other = await givenSession();
          const { data } = dataOf(await client.options(other.access));
          return client.add(access, new SoftAuthenticator(origin).create(data));
        },
      ],
      [
        'the challenge of another session of the user',
        async ({ user, access }) => {
          const { data } = dataOf(await client.options(await client.openSession(user)));
          return client.add(access, new SoftAuthenticator(origin).create(data));
        },
      ],
      [
        'the challenge of a login',
        async ({ access }) => {
          const { data } = dataOf(await client.options(access));
          const { options } = await client.challenge();
          return client.add(access, new SoftAuthenticator(origin).create({ ...data, challenge: options.challenge }));
        },
      ],
      [
        'a challenge that is 301 seconds old',
        async ({ access }) => {
          const { data } = dataOf(await client.options(access));
          client.service.clock.advanceSeconds(301);
          return client.add(access, new SoftAuthenticator(origin).create(data));
        },
      ],
      [
        'the credential of another user',
        async ({ access }) => {
          const victim = await client.givenPasskey();
          const credentialId = victim.authenticator.credentials[0]!.id;
          return client.register(access, new SoftAuthenticator(origin), 'x', { credentialId });
        },
      ],
      [
        'an id and a rawId of two credentials',
        async ({ access }) => {
          const { data } = dataOf(await client.options(access));
          return client.add(access, { ...new SoftAuthenticator(origin).create(data), rawId: 'AAAA' });
        },
      ],
    ])('%s', async (_name, attack) => {
      const owner = await givenSession();
      expect(await attack(owner)).toMatchObject(refused);
      expect(await count(owner.user.uid)).toBe(0);
      expect(await audits(owner.user.uid, 'PASSKEY_ADDED')).toBe(0);
      expect(await mailsTo(owner.user, 'passkey-changed')).toEqual([]);
    });

    it('the same challenge for the second time, also after a refused attempt', async () => {
      const { user, access } = await givenSession();
      const { data } = dataOf(await client.options(access));
      dataOf(await client.add(access, new SoftAuthenticator(origin).create(data)));
      expect(await client.add(access, new SoftAuthenticator(origin).create(data))).toMatchObject(refused);
      const again = dataOf(await client.options(access)).data;
      const wrong = new SoftAuthenticator(origin).create(again, { flags: { uv: false } });
      expect(await client.add(access, wrong)).toMatchObject(refused);
      expect(await client.add(access, new SoftAuthenticator(origin).create(again))).toMatchObject(refused);
      expect(await count(user.uid)).toBe(1);
    });

    it('a second registration of one authenticator: the credential is added once', async () => {
      const { user, access } = await givenSession();
      const authenticator = new SoftAuthenticator(origin);
      dataOf(await client.register(access, authenticator));
      const credentialId = authenticator.credentials[0]!.id;
      expect(await client.register(access, authenticator, 'again', { credentialId })).toMatchObject(refused);
      expect(await count(user.uid)).toBe(1);
    });

    it('a registration after a logout is AUTH_401004, and one of a later session needs a challenge of its own (T298)', async () => {
      const { user, access } = await givenSession();
      const { data } = dataOf(await client.options(access));
      const response = new SoftAuthenticator(origin).create(data);
      await client.service.post('/logout', undefined, { bearer: access });
      expect(await client.add(access, response)).toMatchObject({ body: { error_code: 'AUTH_401004' } });
      expect(await client.add(await client.openSession(user), response)).toMatchObject(refused);
      expect(await count(user.uid)).toBe(0);
    });

    const junk = [undefined, null, 0, true, '', 'ä', '!!', 'A', 'AAAA', [], {}, [[]], 'A'.repeat(5000)];
    it.each([
      ['id', (response: any, value: unknown) => ({ ...response, id: value, rawId: value })],
      ['type', (response: any, value: unknown) => ({ ...response, type: value })],
      ['response', (response: any, value: unknown) => ({ ...response, response: value })],
      ['clientDataJSON', (response: any, clientDataJSON: unknown) => nested(response, { clientDataJSON })],
      ['attestationObject', (response: any, attestationObject: unknown) => nested(response, { attestationObject })],
    ] as const)('%s may be anything: PASSKEY_400001', async (_field, replaced) => {
      const { user, access } = await givenSession();
      for (const value of junk) {
        const { data } = dataOf(await client.options(access));
        const answer = await client.add(access, replaced(new SoftAuthenticator(origin).create(data), value));
        expect({ value, code: answer.body.error_code }).toEqual({ value, code: 'PASSKEY_400001' });
      }
      expect(await count(user.uid)).toBe(0);
    });

    it.each([undefined, null, 5, {}, 'usb', ['usb', 5, null, 'own', '<b>', 'usb']])(
      'transports %j: only known hints are kept',
      async (transports) => {
        const { access } = await givenSession();
        const { data } = dataOf(await client.options(access));
        const response = nested(new SoftAuthenticator(origin).create(data), { transports });
        expect((await client.add(access, response)).status).toBe(200);
        const [known] = dataOf(await client.options(access)).data.excludeCredentials;
        expect(known.transports).toEqual(Array.isArray(transports) ? ['usb'] : []);
      },
    );

    it('every transport that WebAuthn names is kept', async () => {
      const { access } = await givenSession();
      const { data } = dataOf(await client.options(access));
      const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
      expect(
        (await client.add(access, nested(new SoftAuthenticator(origin).create(data), { transports }))).status,
      ).toBe(200);
      expect(dataOf(await client.options(access)).data.excludeCredentials[0].transports).toEqual(transports);
    });

    it.each([undefined, null, 'response', 5, []])('a response %j is COMMON_400001', async (response) => {
      const { access } = await givenSession();
      expect(await client.add(access, response)).toMatchObject({ body: { error_code: 'COMMON_400001' } });
    });
  });

  it('the twenty-first passkey is PASSKEY_400001, before and after the authenticator is asked', async () => {
    const { user, access } = await givenSession();
    for (let n = 0; n < 19; n++) dataOf(await client.register(access, new SoftAuthenticator(origin)));
    const [one, other] = [dataOf(await client.options(access)).data, dataOf(await client.options(access)).data];
    expect((await client.add(access, new SoftAuthenticator(origin).create(one))).status).toBe(200);
    expect(await client.add(access, new SoftAuthenticator(origin).create(other))).toMatchObject(refused);
    expect(await client.options(access)).toMatchObject(refused);
    expect(await count(user.uid)).toBe(20);
    await remove(access, (await client.list(access))[0]!.id as string);
    expect((await client.options(access)).status).toBe(200);
  });

  describe('managing them', () => {
    it('lists the newest first, and those of nobody else', async () => {
      const { access } = await givenSession();
      await client.givenPasskey();
      for (const name of ['first', 'second']) {
        dataOf(await client.register(access, new SoftAuthenticator(origin), name));
        client.service.clock.advanceSeconds(1);
      }
      expect((await client.list(access)).map(({ name }) => name as string)).toEqual(['second', 'first']);
    });

    it('a new name is shown and audited, needs no young session, and sends no mail', async () => {
      const { user, access, id } = await client.givenPasskey();
      client.service.clock.advanceSeconds(301);
      expect(dataOf(await rename(access, id, ' Laptop ')).data).toMatchObject({
        id,
        name: 'Laptop',
        last_used_at: null,
      });
      expect(await client.list(access)).toMatchObject([{ id, name: 'Laptop' }]);
      expect(await audits(user.uid, 'PASSKEY_RENAMED')).toBe(1);
      expect(await mailsTo(user, 'passkey-changed')).toHaveLength(1);
      expect(await rename(access, id, '')).toMatchObject({ body: { error_code: 'COMMON_400001' } });
    });

    it('a removed passkey is gone, audited, and a mail tells the owner; a removal needs a young session', async () => {
      const { user, access, id } = await client.givenPasskey();
      client.service.clock.advanceSeconds(301);
      expect(await remove(access, id)).toMatchObject({ status: 403, body: { error_code: 'AUTH_403002' } });
      const young = await client.openSession(user);
      expect(dataOf(await remove(young, id)).data).toEqual({ result: true });
      expect(await client.list(young)).toEqual([]);
      expect(await audits(user.uid, 'PASSKEY_REMOVED')).toBe(1);
      const added = (await mailsTo(user, 'passkey-changed')).map((mail) => 'added' in mail && mail.added);
      expect(added.sort()).toEqual([false, true]);
      expect(await remove(young, id)).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
    });

    it('the passkey of somebody else is USER_404001, like one that does not exist, and does not change (T300)', async () => {
      const owner = await client.givenPasskey();
      const stranger = await givenSession();
      for (const id of [owner.id, foreignId, owner.id.toUpperCase(), `${owner.id}%20`, 'x']) {
        for (const answer of [await rename(stranger.access, id, 'Mine'), await remove(stranger.access, id)]) {
          expect(answer).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
        }
      }
      // MariaDB ignores spaces at the end of a text that it compares.
      const padded = `${owner.id}%20`;
      for (const answer of [await rename(owner.access, padded, 'Padded'), await remove(owner.access, padded)]) {
        expect(answer).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
      }
      expect(await client.list(owner.access)).toMatchObject([{ id: owner.id, name: 'Phone' }]);
    });

    it('a passkey that is removed while its new name is answered is USER_404001', async () => {
      const { access, id } = await client.givenPasskey();
      const rows = client.service.app.get(PasskeyRows);
      const find = rows.find.bind(rows);
      jest.spyOn(rows, 'find').mockImplementationOnce(async (...asked) => {
        await client.service.database.affected('DELETE FROM passkeys WHERE id = ?', [id]);
        return find(...asked);
      });
      const answer = await rename(access, id, 'Laptop');
      expect(answer).toMatchObject({ status: 404, body: { error_code: 'USER_404001' } });
    });
  });

  describe('a password reset keeps passkeys, and its mails say so', () => {
    const reset = async (user: User) => {
      expect((await client.service.post('/forget-password', { email: user.email })).status).toBe(200);
      const [link] = await mailsTo(user, 'reset-link');
      const token = new URL((link as { link: string }).link).searchParams.get('uid');
      const next = 'Another-Horse-8';
      const change = { req_uid: token, password: next, confirm_password: next };
      expect((await client.service.post('/user/change-pwd-by-req', change)).status).toBe(200);
      return [link, ...(await mailsTo(user, 'password-changed'))];
    };

    it('for a user who has some', async () => {
      const { user, authenticator } = await client.givenPasskey(`user-${++names}`);
      expect(await reset(user)).toMatchObject([{ passkeys: true }, { passkeys: true }]);
      dataOf(await client.logIn(authenticator));
    });

    it('and not for a user who has none', async () => {
      const { user } = await givenSession();
      expect(await reset(user)).toMatchObject([{ passkeys: false }, { passkeys: false }]);
    });
  });
});

function nested(response: Record<string, any>, more: object): Record<string, any> {
  return { ...response, response: { ...response.response, ...more } };
}
