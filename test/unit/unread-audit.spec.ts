import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const src = resolve(__dirname, '../../src');

const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** `purge` deletes rows of the audit, so what is decided with them would change with time. */
const allowed: Record<string, string> = {
  'audit/log-tables.ts': 'search and export for administrators, and how long the rows are kept',
  'audit/persistence/audit-log.entity.ts': 'declares the columns',
  'cli/purge-command.ts': 'names the table in a help text, and tells how many rows were deleted',
  'events/stream/audit-lines.ts': 'names the table in a line of the log',
};

describe('audit_logs', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
  );
  const codeOf = (file: string) => readFileSync(join(src, file), 'utf8').replace(comments, '');

  it('is written and searched, and no decision reads it', () => {
    expect(files.filter((file) => codeOf(file).includes('audit_logs')).sort()).toEqual(Object.keys(allowed).sort());
  });

  it('is not read through its entity either', () => {
    const known = ['audit/audit-trail.ts', 'audit/audit.module.ts', 'audit/persistence/audit-log.entity.ts'];
    expect(files.filter((file) => /\bAuditLog\b/.test(codeOf(file))).sort()).toEqual(known);
    expect(codeOf('audit/audit-trail.ts').match(/\.rows\.\w+/g)).toEqual(['.rows.insert']);
  });

  it('is searched by the route of administrators, exported by the command line, and asked by a metric for the last purge', () => {
    const readers = files.filter((file) => /\b(auditLog|LogSearch)\b/.test(codeOf(file)));
    expect(readers.sort()).toEqual([
      'admin/http/logs.controller.ts',
      'admin/logs.ts',
      'audit/audit.module.ts',
      'audit/log-search.ts',
      'audit/log-tables.ts',
      'cli/audit-commands.ts',
      'metrics/maintenance-figures.ts',
    ]);
  });
});
