import { setTimeout as delay } from 'node:timers/promises';
import type { StreamableFile } from '@nestjs/common';
import { fileOf } from './lists';

/** Longer than nearly every answer takes, and shorter than every proxy waits for a part of an answer. */
const everyMs = 10_000;

/**
 * Answers work that can take minutes. If it does, the answer begins with spaces, which mean nothing before a JSON text, so that
 * no proxy takes the service for dead. It is then a 200 in any case: the work must not fail.
 * @param leave called at the end of the work, or when the client has gone
 */
export async function longAnswer<T extends object>(work: Promise<T>, leave: () => void): Promise<T | StreamableFile> {
  const done = work.finally(leave);
  const result = await Promise.race([done, pause()]);
  if (result !== undefined) return result;
  return fileOf(spaced(done), { unreadMs: 3 * everyMs }, () => undefined, {
    type: 'application/json; charset=utf-8',
  });
}

async function* spaced(work: Promise<object>): AsyncGenerator<string> {
  for (;;) {
    yield ' ';
    const data = await Promise.race([work, pause()]);
    if (data === undefined) continue;
    yield JSON.stringify({ status: true, data });
    return;
  }
}

const pause = (): Promise<undefined> => delay(everyMs, undefined, { ref: false });
