import { Logger } from '@nestjs/common';
import { SimpleWebAuthn } from '../../src/passkeys/webauthn/simple-webauthn';
import type { Assertion, NewCredential } from '../../src/passkeys/webauthn/webauthn';
import { type AuthenticatorKind, SoftAuthenticator } from '../support/authenticator';
import { settings } from '../support/captcha/harness';
import { cbor, head } from '../support/cbor';
import { mutated } from '../support/fuzz/byte-mutations';
import { strangeValue } from '../support/fuzz/values';
import { heapMb } from '../support/heap';
import { SeededNumbers } from '../support/seeded-numbers';

jest.setTimeout(600_000);

const seed = Number(process.env.PASSKEY_FUZZ_SEED ?? 22);
const responses = 5000;
const origin = 'https://portal.test';
const party = {
  rp: { id: 'portal.test' },
  rpId: 'portal.test',
  user: { id: Buffer.from('a-user').toString('base64url') },
};
const challenge = Buffer.from('a challenge of this ceremony').toString('base64url');
const kinds: readonly AuthenticatorKind[] = [
  {},
  { attestation: 'packed' },
  { synced: true },
  { algorithm: 'RS256', attestation: 'packed' },
];
/** A request has at most 16 KiB. */
const largest = 12_000;
/** Milliseconds of processor time for one response. */
const longestMs = 15_000;

/** Items of CBOR that a reader may trust too much. */
const tokens = [
  ...[cbor('fmt'), cbor('none'), cbor('packed'), cbor('attStmt'), cbor('authData'), cbor('x5c'), cbor('android-key')],
  ...[cbor(-7), cbor(-257), cbor(-8), cbor(new Map()), cbor([]), cbor(Buffer.alloc(70_000)).subarray(0, 20)],
  ...[2, 3, 4, 5].flatMap((major) => [head(major, 0xffffffff), head(major, 0x7fff), Buffer.of((major << 5) | 31)]),
  ...[Buffer.from('1bffffffffffffffff', 'hex'), Buffer.from('fb7ff8000000000000', 'hex'), Buffer.from('f97e00', 'hex')],
  ...[Buffer.alloc(3000, 0x81), Buffer.alloc(3000, 0xa1), Buffer.alloc(3000, 0xc0), Buffer.alloc(3000, 0x9f)],
  ...['"__proto__":{},', '"crossOrigin":true,', '"topOrigin":"x",', '{"type":', '\\u0000', '\xff'].map((text) =>
    Buffer.from(text),
  ),
].map((bytes) => bytes.toString('latin1'));

type Response = Record<string, any>;
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');

describe(`${responses} mutated responses of authenticators (seed ${seed})`, () => {
  let webAuthn: SimpleWebAuthn;
  let numbers: SeededNumbers;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    webAuthn = new SimpleWebAuthn(settings({ SYSTEM_URL: origin }).brand, settings({ SYSTEM_URL: origin }));
    // Loads the library.
    await webAuthn.verifyRegistration({}, challenge);
  });
  beforeEach(() => {
    numbers = new SeededNumbers(seed);
  });

  /** Changes bytes of one part of the response, or one of its values. */
  function changed(response: Response, parts: readonly string[]): Response {
    const copy = structuredClone(response);
    const inner = copy.response as Record<string, unknown>;
    const part = numbers.pick(parts);
    const how = numbers.next(10);
    if (how < 7) {
      inner[part] = mutated(bytesOf(inner[part] as string), numbers, { tokens, largest }).toString('base64url');
    } else if (how < 8) {
      // Not base64url any more.
      inner[part] = mutated(Buffer.from(inner[part] as string), numbers, { largest }).toString('latin1');
    } else {
      const place = numbers.chance(50) ? copy : inner;
      const name = numbers.pick(Object.keys(place));
      if (numbers.chance(20)) delete place[name];
      else place[name] = strangeValue(numbers);
    }
    return copy;
  }

  /** Verifies the responses one by one. @returns the number of accepted ones */
  async function verifyAll<T>(
    next: (n: number) => Response,
    verify: (response: Response) => Promise<T | undefined>,
    check: (accepted: T, response: Response) => void | Promise<void>,
  ): Promise<number> {
    let accepted = 0;
    const before = heapMb();
    for (let n = 0; n < responses; n++) {
      const response = next(n);
      const start = process.cpuUsage();
      const result = await verify(response);
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1000).toBeLessThan(longestMs);
      if (result === undefined) continue;
      accepted += 1;
      await check(result, response);
    }
    expect(heapMb() - before).toBeLessThan(60);
    return accepted;
  }

  it('a registration is refused, or has the challenge, the origin and a key that can be stored and asked', async () => {
    const made = kinds.map((kind) => {
      const authenticator = new SoftAuthenticator(origin, kind);
      return { authenticator, response: authenticator.create({ challenge, ...party }) };
    });
    const used = (n: number) => made[n % made.length]!;
    let turn = 0;
    const accepted = await verifyAll<NewCredential>(
      (n) =>
        changed(used((turn = n)).response, [
          'attestationObject',
          'attestationObject',
          'attestationObject',
          'clientDataJSON',
        ]),
      (response) => webAuthn.verifyRegistration(response, challenge),
      async (credential, { id, response }) => {
        const data = JSON.parse(bytesOf(response.clientDataJSON).toString()) as Response;
        expect(data).toMatchObject({ challenge, origin, type: 'webauthn.create' });
        expect(credential.credentialId).toBe(id);
        // The key may be another one than that of the authenticator. It must not harm the logins that use it.
        const assertion = used(turn).authenticator.get({ challenge, ...party });
        await webAuthn.verifyAssertion(assertion, challenge, credential);
      },
    );
    // `none` signs nothing, so that some changes are none that the service could see.
    expect(accepted).toBeGreaterThan(responses / 100);
    expect(accepted).toBeLessThan(responses / 2);
  });

  it('an assertion is refused unless the signed bytes are those that the authenticator has signed', async () => {
    const made = await Promise.all(
      kinds.map(async (kind) => {
        const authenticator = new SoftAuthenticator(origin, kind);
        const credential = await webAuthn.verifyRegistration(authenticator.create({ challenge, ...party }), challenge);
        return { authenticator, credential: credential!, response: authenticator.get({ challenge, ...party }) };
      }),
    );
    const used = (n: number) => made[n % made.length]!;
    const signed = ['clientDataJSON', 'authenticatorData'] as const;
    let turn = 0;
    const accepted = await verifyAll<Assertion>(
      (n) => changed(used((turn = n)).response, [...signed, 'signature', 'signature']),
      (response) => webAuthn.verifyAssertion(response, challenge, used(turn).credential),
      (_assertion, { response }) => {
        // Bytes that are no base64url are another spelling of the same bytes, or of none.
        for (const part of signed) {
          const sent = response[part] as string;
          if (bytesOf(sent).toString('base64url') !== sent) continue;
          expect(sent).toBe(used(turn).response.response[part]);
        }
      },
    );
    expect(accepted).toBeLessThan(responses / 4);
    for (const { credential, response } of made) {
      expect(await webAuthn.verifyAssertion(response, challenge, credential)).toBeDefined();
    }
  });
});
