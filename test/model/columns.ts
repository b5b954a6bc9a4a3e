import { timeOrNull } from '../../src/platform/database/sql';

/** In the tables, the `jti` of the first refresh token of a session equals its `sid`. The model has a name for each. */
export const sidPrefix = 'session ';

export const bool = (column: unknown): boolean => Number(column) === 1;

export const seconds = (time: Date): number => time.getTime() / 1000;

export const secondsOrNull = (column: unknown): number | null => {
  const time = timeOrNull(column);
  return time && seconds(time);
};
