import type { AppConfig } from '../../platform/config/app-config';
import { type DatabaseClock, toleratedOffsetMs } from '../../platform/database/database-clock';
import type { KeyRing } from '../../platform/crypto/key-ring';
import type { Census } from '../../platform/crypto/resealing';
import { type Finding, finding } from './finding';

/** Milliseconds for counting what is sealed: a large installation is told what was found by then. */
const countingMs = 5000;

/**
 * The settings have been read by then, so the keys are well formed; here they are used.
 * @param census counts what the tables hold sealed until the signal; undefined when there are no tables to look at.
 */
export function checkKeys(
  config: AppConfig,
  keys: KeyRing,
  census: ((signal: AbortSignal) => Promise<Census>) | undefined,
): Promise<Finding> {
  return finding(
    'keys',
    async () => {
      if (keys.open('doctor', keys.seal('doctor', 'probe')) !== 'probe') throw new Error('sealing does not work');
      const { algorithm, verification } = config.jwt;
      const previous = (count: number) => (count > 1 ? ` and ${count - 1} previous` : '');
      const text = `${algorithm} with 1 key${previous(verification.length)}, data encryption with 1 key${previous(config.dataKeys.length)}`;
      if (census === undefined) return ['ok', text];
      const signal = AbortSignal.timeout(countingMs);
      const { former, unreadable } = await census(signal);
      const atLeast = signal.aborted ? 'at least ' : '';
      if (unreadable > 0) return ['problem', `${text}; ${atLeast}${unreadable} sealed values open with none of them`];
      if (former > 0) return ['warn', `${text}; ${atLeast}${former} values wait for keys reseal`];
      if (config.dataKeys.length === 1) return ['ok', text];
      const rest = signal.aborted
        ? 'count with keys reseal --dry-run'
        : 'nothing that lasts is sealed with a previous one';
      return ['ok', `${text}; ${rest}`];
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
