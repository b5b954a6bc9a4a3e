import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Recorded } from './broken-promises';
import { commandLine } from './command-line';
import { packageTypes } from './package-types';
import { errors, events, metrics, tokens } from './service';
import { settings } from './settings';
import { tables } from './tables';

const root = resolve(__dirname, '../../..');
export const promiseFolder = join(root, 'test/promise');

/** What docs/promise.md promises, as the code has it now. The wire is apart: it is compared by other rules. */
export const present: Readonly<Record<string, () => Recorded | Promise<Recorded>>> = {
  errors,
  tables,
  settings,
  'command-line': commandLine,
  events,
  tokens,
  metrics,
  sdk: () =>
    packageTypes(join(root, 'sdk/typescript/dist'), {
      '.': { file: 'index.d.ts' },
      './admin': { file: 'admin.d.ts' },
      './operations': { file: 'operations.d.ts', namesOnly: true },
      './passkeys': { file: 'passkeys.d.ts' },
    }),
  guard: () =>
    packageTypes(join(root, 'guard/dist'), {
      '.': { file: 'index.d.ts' },
      './express': { file: 'express.d.ts' },
      './fastify': { file: 'fastify.d.ts' },
      './nest': { file: 'nest.d.ts' },
    }),
};

/** The OpenAPI document without its texts and examples, which may change. */
export function presentWire(): object {
  const { paths, components, security } = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as {
    readonly paths: object;
    readonly components: { readonly schemas: object };
    readonly security?: unknown;
  };
  return withoutTexts({ paths, components: { schemas: components.schemas }, security }) as object;
}

const texts = new Set(['description', 'summary', 'example', 'examples', 'tags', 'title']);

/** Below `properties`, the keys are names of fields and not words of the document. */
function withoutTexts(node: unknown, names = false): unknown {
  if (Array.isArray(node)) return node.map((one) => withoutTexts(one));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => names || !texts.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutTexts(value, !names && (key === 'properties' || key === 'schemas'))]),
  );
}

export const recorded = (kind: string): unknown =>
  JSON.parse(readFileSync(join(promiseFolder, `${kind}.json`), 'utf8'));
