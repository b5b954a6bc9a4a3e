import type { KeyObject } from 'node:crypto';
import type { SettingsReader } from '../platform/config/settings-reader';

/** Signs Security Event Tokens: the first key that the OpenID provider publishes. */
export interface TokenSigner {
  readonly issuer: string;
  readonly algorithm: 'ES256' | 'RS256';
  readonly key: KeyObject;
}

/** Further receivers of events (docs/spec/extensions.md#e). */
export abstract class ReceiverSettings {
  /** Whether events are kept for receivers of the table `event_receivers`. */
  abstract readonly on: boolean;
  /** Undefined with `OIDC=off`: then no receiver can have the format `set`. */
  abstract readonly signer: TokenSigner | undefined;
}

interface PublishedKeys {
  readonly issuer: string;
  readonly keys: readonly [Omit<TokenSigner, 'issuer'>, ...unknown[]];
}

export function readReceiverSettings(env: SettingsReader, openId: PublishedKeys | undefined): ReceiverSettings {
  const on = env.choice('EVENT_RECEIVERS', ['on', 'off'], 'off') === 'on';
  return { on, signer: openId && { issuer: openId.issuer, ...openId.keys[0] } };
}
