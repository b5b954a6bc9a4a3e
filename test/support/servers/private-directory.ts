import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Calls `start` with a new private directory, and removes the directory if the start fails. Its path is short, because
 * the path of a Unix socket in it must stay below 108 bytes.
 */
export async function inPrivateDirectory<T>(name: string, start: (directory: string) => Promise<T>): Promise<T> {
  // The real path, because a container mounts the directory under the same path.
  const directory = await realpath(await mkdtemp(join(tmpdir(), `${name}-`)));
  try {
    return await start(directory);
  } catch (error) {
    await removeDirectory(directory);
    throw error;
  }
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
