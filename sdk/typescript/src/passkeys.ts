/*
 * The entry `@portal-auth/sdk/passkeys`: WebAuthn by the package @simplewebauthn/browser, which the user of the SDK
 * installs. No other file of the SDK imports that package. This module is a `PasskeyBrowser`.
 */
import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  platformAuthenticatorIsAvailable,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from '@simplewebauthn/browser';
import { PasskeyError, type PasskeyProblem } from './failures.js';
import type { PasskeySupport } from './passkey-browser.js';

/** Never rejects. A browser that cannot say what it supports does not support it. */
export async function support(): Promise<PasskeySupport> {
  const no = () => false;
  const [autofill, platform] = await Promise.all([
    browserSupportsWebAuthnAutofill().catch(no),
    // Some browsers lack the function, so the call itself throws.
    Promise.resolve().then(platformAuthenticatorIsAvailable).catch(no),
  ]);
  const passkeys = browserSupportsWebAuthn() && !isAddress(location.hostname);
  return { passkeys, autofill: passkeys && autofill, platform: passkeys && platform };
}

/** A passkey belongs to a domain. At an IP address, such as `127.0.0.1` or `[::1]`, browsers refuse all passkeys. */
const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

export function create(options: object, signal: AbortSignal): Promise<object> {
  type Options = Parameters<typeof startRegistration>[0]['optionsJSON'];
  return ceremony(signal, () => startRegistration({ optionsJSON: options as Options }));
}

export function get(options: object, signal: AbortSignal, autofill: boolean): Promise<object> {
  type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];
  // The page draws the field when it likes. Without the field, the browser lists no passkeys and nothing else happens.
  const how = { useBrowserAutofill: autofill, verifyBrowserAutofillInput: false };
  return ceremony(signal, () => startAuthentication({ optionsJSON: options as Options, ...how }));
}

/** The package can end only the ceremony that it started last. */
let last: AbortSignal | undefined;

async function ceremony(signal: AbortSignal, start: () => Promise<object>): Promise<object> {
  if (!browserSupportsWebAuthn()) throw new PasskeyError('not-supported');
  if (signal.aborted) throw new PasskeyError('aborted');
  const abort = () => {
    if (last === signal) WebAuthnAbortService.cancelCeremony();
  };
  last = signal;
  signal.addEventListener('abort', abort);
  try {
    return await start();
  } catch (error) {
    throw new PasskeyError(problemOf(error), { cause: error });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The names of the errors are those of WebAuthn level 3. */
function problemOf(error: unknown): PasskeyProblem {
  switch ((error as Error | undefined)?.name) {
    case 'AbortError':
      return 'aborted';
    case 'NotAllowedError':
      return 'cancelled';
    case 'InvalidStateError':
      return 'already-registered';
    case 'ConstraintError':
    case 'NotSupportedError':
    case 'SecurityError':
      return 'not-supported';
    default:
      return 'failed';
  }
}
