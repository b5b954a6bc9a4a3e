import { timeOrNull } from '../../src/platform/database/sql';

/** The `jti` of the first refresh token of a session equals its `sid`. In the model they are two names. */
export const sidPrefix = 'session ';

export const bool = (column: unknown): boolean => Number(column) === 1;

export const seconds = (time: Date): number => time.getTime() / 1000;

export const secondsOrNull = (column: unknown): number | null => {
  const time = timeOrNull(column);
  return time && seconds(time);
};
