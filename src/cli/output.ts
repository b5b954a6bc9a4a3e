import { type FileHandle, open, rm } from 'node:fs/promises';
import { CliProblem, written } from './cli-context';

/**
 * Writes the pieces to a new file that only its owner can read, or to standard output, as fast as the reader reads. When it fails,
 * the file is removed, because half of it must not be taken for the whole.
 * @param begin is called when the file exists
 * @returns false if the reader has closed the pipe
 * @throws CliProblem when the file exists or cannot be made
 */
export async function writePieces(
  out: string | undefined,
  begin: () => Promise<AsyncIterable<string>>,
): Promise<boolean> {
  const file = out === undefined ? undefined : await newFile(out);
  try {
    for await (const piece of await begin()) {
      if (file !== undefined) await file.write(piece);
      else if (!(await written(piece))) return false;
    }
    return true;
  } catch (error) {
    if (out !== undefined) await rm(out, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
}

async function newFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliProblem(`cannot write ${JSON.stringify(path)}: ${code === 'EEXIST' ? 'the file exists' : code}`);
  }
}
