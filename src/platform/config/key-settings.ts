import { keptSecret, randomSecret } from './kept-secrets';
import type { SettingsReader } from './settings-reader';

export abstract class KeySettings {
  /** Keys of 32 bytes (`DATA_ENCRYPTION_KEY`). The first key encrypts, and every key decrypts. */
  abstract readonly dataKeys: readonly Buffer[];
}

export function readKeySettings(env: SettingsReader, production: boolean, dataDir: string): KeySettings {
  const configured = env.list('DATA_ENCRYPTION_KEY');
  if (configured.length === 0 && production)
    env.problem('DATA_ENCRYPTION_KEY', 'is required in production: make one with keys generate');
  // Buffer.from skips characters that are not base64, so a mistyped key would become another key.
  if (configured.some((text) => !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))) {
    env.problem('DATA_ENCRYPTION_KEY', 'must be 32 bytes in base64, or several such keys separated by commas');
  }
  const kept = () => keptSecret(env, dataDir, 'data-encryption', () => randomSecret(32));
  const texts = configured.length > 0 || production ? configured : [kept()];
  const keys = texts.map((text) => Buffer.from(text, 'base64'));
  if (keys.some((key) => key.length === 32 && new Set(key).size === 1)) {
    env.problem('DATA_ENCRYPTION_KEY', 'repeats one byte 32 times and is not random: make one with keys generate');
  }
  return { dataKeys: keys };
}
