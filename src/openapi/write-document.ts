import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { wholeDocument } from './whole-document';

/** `npm run openapi` writes the committed document with this program. */
void wholeDocument()
  .then((document) => writeFileSync('openapi.json', `${JSON.stringify(document, undefined, 2)}\n`))
  .then(() => process.exit(0));
