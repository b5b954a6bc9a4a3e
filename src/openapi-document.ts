import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { wholeDocument } from './openapi/whole-document';

/** `npm run openapi`: writes the committed document. */
void wholeDocument()
  .then((document) => writeFileSync('openapi.json', `${JSON.stringify(document, undefined, 2)}\n`))
  .then(() => process.exit(0));
