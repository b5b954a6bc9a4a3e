import { readFileSync } from 'node:fs';

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Whether `exports`, the formats of the files and the declarations agree. */
export async function checkDeclarations({ tarball }) {
  const data = readFileSync(tarball);
  const buffer = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  const { problems } = await checkPackage(createPackageFromTarballData(new Uint8Array(buffer)));
  return {
    found: [
      ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
      ...problems.map((problem) => `are-the-types-wrong: ${JSON.stringify(problem)}`),
    ],
  };
}
