import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fastify from 'fastify';
import { parse } from 'yaml';
import { auditTypes, loginTypes } from '../../src/events/event-types';
import { auditEvent, loginEvent, type ServiceEvent } from '../../src/events/outbox/event';
import { AuditLines } from '../../src/events/stream/audit-lines';
import { logRequests } from '../../src/platform/http/access-log';
import { createLogger } from '../../src/platform/logging/logger';
import * as catalogue from '../../src/shared/errors/error-catalogue';

const page = readFileSync(resolve(__dirname, '../../docs/operations/siem.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text: text!,
}));

const row = { userId: 'u', ip: '203.0.113.7', userAgent: 'Browser', requestId: 'r', createdAt: new Date(0) };
const login = loginEvent({ ...row, loginName: 'alice', provider: 'password', mfa: null, outcome: 'success' }, 1);
const other = auditEvent({ ...row, event: 'USER_CREATED', actorId: null, detail: {} }, 2);

/** The paths of a line as the page writes them, for example `data.ip`. */
const pathsOf = (line: object): string[] =>
  Object.entries(line).flatMap(([key, value]: [string, unknown]) =>
    key === 'data' ? Object.keys(value as object).map((name) => `data.${name}`) : [key],
  );

function auditLine(event: ServiceEvent): object {
  const written: string[] = [];
  const lines = new AuditLines(
    { stream: true, webhook: undefined } as ConstructorParameters<typeof AuditLines>[0],
    (text, done) => {
      written.push(String(text));
      done(null, text.length);
    },
  );
  lines.start();
  lines.add(event);
  return JSON.parse(written[0]!) as object;
}

/** The line of a request as the service writes it. */
async function requestLine(): Promise<string[]> {
  const told: object[] = [];
  const logger = createLogger('info');
  const app = fastify();
  app.decorateRequest('client', { getter: () => ({ ip: '203.0.113.7' }) } as never);
  logRequests(
    app,
    Object.assign(Object.create(logger), { info: (fields: object) => told.push(fields) }) as typeof logger,
  );
  app.get('/a', () => 'b');
  await app.inject('/a');
  await app.close();
  return ['level', 'time', 'msg', ...Object.keys(told[0]!)];
}

describe('docs/operations/siem.md', () => {
  const fieldsOf = (heading: string) => {
    const table = page.slice(page.indexOf(heading)).split('\n\n')[0]!;
    return [...table.matchAll(/^\| `([\w.]+)`/gm)].map(([, field]) => field!);
  };

  it('maps each field of the audit lines, and no field that does not exist', () => {
    const written = new Set([...pathsOf(auditLine(login)), ...pathsOf(auditLine(other))]);
    // `level` and `time` repeat what the line is, and `created_at` repeats `timestamp`.
    for (const repeated of ['level', 'time', 'data.created_at']) written.delete(repeated);
    expect(fieldsOf('| field             | meaning').sort()).toEqual([...written].sort());
  });

  it('maps only fields that the line of a request has', async () => {
    const written = await requestLine();
    const mapped = fieldsOf('| field of a request');
    expect(mapped.length).toBeGreaterThan(8);
    expect(mapped.filter((field) => !written.includes(field))).toEqual([]);
  });

  it.each(blocks.map(({ language, text }) => [language!, text]))(
    'the %s block names only fields, events and codes that exist',
    (_, text) => {
      const written = new Set([...pathsOf(login), ...pathsOf(other)]);
      const fields = [...text.matchAll(/\bdata\.(\w+)/g)].map(([field]) => field);
      expect(fields.filter((field) => !written.has(field))).toEqual([]);
      const types = new Set([...Object.values(auditTypes), ...Object.values(loginTypes)]);
      const prefixes = [...new Set([...types].map((type) => type.split('.')[0]!))].join('|');
      const named = [...text.matchAll(new RegExp(`(?<![.\\w])(?:${prefixes})\\.[a-z_]+`, 'g'))].map(([type]) => type);
      expect(named.filter((type) => !types.has(type))).toEqual([]);
      const codes = new Set(Object.values(catalogue).map((entry) => (entry as { code?: string }).code));
      expect((text.match(/[A-Z]+_\d{6}/g) ?? []).filter((code) => !codes.has(code))).toEqual([]);
    },
  );

  it.each(['spl', 'kusto', 'esql', 'logql'])('%s has the four searches', (language) => {
    const { text } = blocks.find((one) => one.language === language)!;
    for (const search of [
      'Password spraying',
      'Failures of the second factor',
      'administrators and operators',
      'Missing logs',
    ])
      expect(text).toContain(search);
    for (const type of [
      'login.failed',
      'mfa.code_wrong',
      'mfa.budget_exhausted',
      'user.admin_changed',
      'config.changed',
    ])
      expect(text).toContain(type);
  });

  it('the configuration of the collector is YAML, and parses only what a line has', async () => {
    const { text } = blocks.find(({ language }) => language === 'yaml')!;
    parse(text);
    const written = await requestLine();
    const named = [...text.matchAll(/attributes\.(\w+)/g)].map(([, field]) => field!);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((field) => !written.includes(field))).toEqual([]);
  });
});
