import type { AppConfig } from '../../platform/config/app-config';
import { type DatabaseClock, toleratedOffsetMs } from '../../platform/database/database-clock';
import type { KeyRing } from '../../platform/crypto/key-ring';
import { type Finding, finding } from './finding';

/** The settings have been read by then, so the keys are well formed; here they are used. */
export function checkKeys(config: AppConfig, keys: KeyRing): Promise<Finding> {
  return finding(
    'keys',
    () => {
      if (keys.open('doctor', keys.seal('doctor', 'probe')) !== 'probe') throw new Error('sealing does not work');
      const { algorithm, verification } = config.jwt;
      const previous = (count: number) => (count > 1 ? ` and ${count - 1} previous` : '');
      return Promise.resolve([
        'ok',
        `${algorithm} with 1 key${previous(verification.length)}, data encryption with 1 key${previous(config.dataKeys.length)}`,
      ] as const);
    },
    (error) => (error as Error).message,
  );
}

export function checkClock(clock: DatabaseClock): Promise<Finding> {
  return finding(
    'clock',
    async () => {
      const offset = Math.round(await clock.offsetMs());
      const text = offset === 0 ? "agrees with the database's" : `${offset} ms from the database's`;
      return [Math.abs(offset) > toleratedOffsetMs ? 'warn' : 'ok', text];
    },
    () => 'the database did not tell its time',
  );
}
