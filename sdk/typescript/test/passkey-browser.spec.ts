import { PasskeyError, type PasskeyBrowser } from '../dist/index.js';
import * as passkeys from '../dist/passkeys.js';

/** The module is a `PasskeyBrowser`: otherwise this line does not compile. */
const browser: PasskeyBrowser = passkeys;

const bytes = (text: string) => new TextEncoder().encode(text).buffer;
const requestOptions = { challenge: 'Y2hhbGxlbmdl', rpId: 'auth.example.com', userVerification: 'required' };
const creationOptions = {
  challenge: 'Y2hhbGxlbmdl',
  rp: { id: 'auth.example.com', name: 'Portal' },
  user: { id: 'dXNlcg', name: 'alice', displayName: 'Alice' },
  pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
};
const assertion = {
  id: 'a2V5',
  rawId: bytes('key'),
  type: 'public-key',
  authenticatorAttachment: 'platform',
  getClientExtensionResults: () => ({}),
  response: {
    authenticatorData: bytes('data'),
    clientDataJSON: bytes('{}'),
    signature: bytes('signature'),
    userHandle: bytes('user'),
  },
};
const named = (name: string) => Object.assign(new Error('the browser says so'), { name });

type Ask = (options: { signal: AbortSignal; mediation?: string; publicKey: unknown }) => Promise<unknown>;

/** Gives Node the parts of a browser that WebAuthn consists of. */
function haveBrowser(parts: { get?: Ask; create?: Ask; api?: object; host?: string } = {}): void {
  const api = Object.assign(class PublicKeyCredential {}, parts.api);
  Object.defineProperty(globalThis, 'PublicKeyCredential', { value: api, configurable: true });
  Object.defineProperty(globalThis, 'navigator', { value: { credentials: parts }, configurable: true });
  // The package looks for the field of the autofill, and goes on without it.
  Object.defineProperty(globalThis, 'document', { value: { querySelectorAll: () => [] }, configurable: true });
  const hostname = parts.host ?? 'auth.example.com';
  Object.defineProperty(globalThis, 'location', { value: { hostname }, configurable: true });
}

const problem = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PasskeyError);
  return (error as PasskeyError).problem;
};

describe('@portal-auth/sdk/passkeys', () => {
  const never = new AbortController().signal;
  const names = ['PublicKeyCredential', 'navigator', 'document', 'location'] as const;
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  afterEach(() => {
    names.forEach((name, index) => {
      const former = before[index];
      if (former === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, former);
    });
  });

  it('passes the options of the service to the browser, and its response back in the JSON form', async () => {
    let given: unknown;
    haveBrowser({
      get: (options) => {
        given = options;
        return Promise.resolve(assertion);
      },
    });
    expect(await browser.get(requestOptions, never, false)).toMatchObject({
      id: 'a2V5',
      rawId: 'a2V5',
      response: { signature: 'c2lnbmF0dXJl', userHandle: 'dXNlcg' },
    });
    expect(given).toMatchObject({ publicKey: { rpId: 'auth.example.com', userVerification: 'required' } });
    expect(given).not.toHaveProperty('mediation');
  });

  it('asks for autofill by the mediation "conditional"', async () => {
    let mediation: string | undefined;
    haveBrowser({
      api: { isConditionalMediationAvailable: () => Promise.resolve(true) },
      get: (options) => {
        mediation = options.mediation;
        return Promise.resolve(assertion);
      },
    });
    await browser.get(requestOptions, never, true);
    expect(mediation).toBe('conditional');
  });

  it.each([
    ['NotAllowedError', 'cancelled'],
    ['AbortError', 'aborted'],
    ['SecurityError', 'not-supported'],
    ['NotSupportedError', 'not-supported'],
    ['ConstraintError', 'not-supported'],
    ['InvalidStateError', 'already-registered'],
    ['UnknownError', 'failed'],
    ['TypeError', 'failed'],
  ])('%s of the browser is a PasskeyError with the problem %s', async (name, expected) => {
    haveBrowser({ get: () => Promise.reject(named(name)), create: () => Promise.reject(named(name)) });
    expect(await problem(browser.create(creationOptions, never))).toBe(expected);
    expect(await problem(browser.get(requestOptions, never, false))).toBe(expected);
  });

  it('a browser without WebAuthn is asked for nothing', async () => {
    expect(await browser.support()).toEqual({ passkeys: false, autofill: false, platform: false });
    expect(await problem(browser.get(requestOptions, never, false))).toBe('not-supported');
    expect(await problem(browser.create(creationOptions, never))).toBe('not-supported');
  });

  it('support() says what the browser says, and takes an error for a no', async () => {
    const yes = () => Promise.resolve(true);
    haveBrowser({
      api: { isConditionalMediationAvailable: yes, isUserVerifyingPlatformAuthenticatorAvailable: yes },
    });
    expect(await browser.support()).toEqual({ passkeys: true, autofill: true, platform: true });
    haveBrowser({
      api: {
        isConditionalMediationAvailable: () => Promise.reject(named('NotAllowedError')),
        isUserVerifyingPlatformAuthenticatorAvailable: () => Promise.reject(named('NotAllowedError')),
      },
    });
    expect(await browser.support()).toEqual({ passkeys: true, autofill: false, platform: false });
    haveBrowser();
    expect(await browser.support()).toEqual({ passkeys: true, autofill: false, platform: false });
  });

  it.each(['127.0.0.1', '[::1]'])('at %s nothing is supported, because browsers want a domain', async (host) => {
    const yes = () => Promise.resolve(true);
    haveBrowser({
      host,
      api: { isConditionalMediationAvailable: yes, isUserVerifyingPlatformAuthenticatorAvailable: yes },
    });
    expect(await browser.support()).toEqual({ passkeys: false, autofill: false, platform: false });
  });

  it('an aborted signal ends its own ceremony and no later one', async () => {
    const signals: AbortSignal[] = [];
    haveBrowser({
      get: ({ signal }) => {
        signals.push(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const one = problem(browser.get(requestOptions, first.signal, false));
    first.abort();
    expect(await one).toBe('aborted');
    expect(await problem(browser.get(requestOptions, first.signal, false))).toBe('aborted');
    expect(signals).toHaveLength(1);

    const third = new AbortController();
    const replaced = problem(browser.get(requestOptions, second.signal, false));
    const current = problem(browser.get(requestOptions, third.signal, false));
    second.abort();
    expect(await replaced).toBe('aborted');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    third.abort();
    expect(await current).toBe('aborted');
  });
});
