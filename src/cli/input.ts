import { createReadStream } from 'node:fs';

/** What stands for standard input where a command takes a file. A pod has no file: its root file system is read-only. */
export const standardInput = '-';

/** Without `-i`, `kubectl exec` gives the program an empty input, which must not look like an empty file. */
export const emptyInput = 'standard input is empty: redirect a file to it; kubectl exec needs -i';

/** @param file a path, or `-` for standard input */
export const openInput = (file: string): NodeJS.ReadableStream =>
  file === standardInput ? process.stdin : createReadStream(file);
