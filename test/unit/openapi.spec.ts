import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedExamples } from '../../src/openapi/document/recorded-examples';
import { asVersion30 } from '../../src/openapi/document/version-30';
import { wholeDocument } from '../../src/openapi/whole-document';
import { assertDeclaredAnswer, contract } from '../support/contract';
import { runScript } from '../support/run-script';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly example?: unknown }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses: Readonly<Record<string, Response>>;
}
interface Response {
  readonly description: string;
  readonly headers?: object;
  readonly content?: Contents;
}
type Contents = Readonly<Record<string, { readonly schema: Schema; readonly examples?: Record<string, Example> }>>;
interface Example {
  readonly $ref?: string;
  readonly value?: unknown;
}
interface Schema {
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: object };
}

const operations = Object.entries(contract.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
);
const json = (response: Response) => response.content?.['application/json'];
/** A choice of failures has a name of its own; one failure is declared by its reference. */
const declared = (schema: Schema): Schema => {
  const target = (contract.components?.schemas as Record<string, Schema>)[schema.$ref?.split('/').at(-1) ?? ''];
  return target?.oneOf === undefined ? schema : target;
};
const shared = (reference = ''): unknown => {
  const { examples = {} } = contract.components ?? {};
  return (examples as Record<string, Example>)[reference.replace('#/components/examples/', '')]?.value;
};

describe('the OpenAPI document', () => {
  it('matches the code: run npm run openapi after a change', async () => {
    const made = `${JSON.stringify(await wholeDocument(), undefined, 2)}\n`;
    expect(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')).toBe(made);
  });

  it('passes the strict rules of the linter', async () => {
    expect(await runScript('tools/openapi-lint.mjs')).toMatchObject({ code: 0 });
  });

  it('passes the same rules in OpenAPI 3.0.3', async () => {
    expect(await runScript('tools/openapi-lint.mjs', asVersion30(contract))).toEqual({
      code: 0,
      output: 'openapi.json: no problems\n',
    });
  });

  it('does not pass the linter with an operation that has no operationId', async () => {
    const spoiled = structuredClone(contract) as unknown as { paths: Record<string, Record<string, object>> };
    delete (spoiled.paths['/login']!.post as Partial<Operation> & { operationId?: string }).operationId;
    const { code, output } = await runScript('tools/openapi-lint.mjs', spoiled);
    expect(code).toBe(1);
    expect(output).toContain('operation-operationId');
  });

  it.each(operations)('%s: has a summary, a described tag, and a name for a method', (_name, operation) => {
    const { operationId, summary, tags = [] } = operation;
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]+)*$/);
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    // "The own password" is no English, and each SDK repeats the summary.
    expect(summary).not.toMatch(/\bown\b/);
    const described = (contract.tags ?? []).filter(({ description }) => description).map(({ name }) => name);
    expect(tags.filter((tag) => described.includes(tag))).toHaveLength(1);
  });

  it('names each operation once', () => {
    const names = operations.map(([, { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(operations)(
    '%s: has a recorded request, and a recorded answer in every media type: run npm run openapi:examples',
    (_name, { operationId, parameters = [], requestBody, responses }) => {
      const recorded = recordedExamples()[operationId!] ?? [];
      const successes = Object.entries(responses['200']?.content ?? {});
      // An answer without a body is in its headers.
      if (responses['200']?.headers === undefined) expect(successes).not.toEqual([]);
      for (const [mediaType, { examples = {} }] of successes) {
        const own = recorded.filter((one) => one.status === 200 && one.mediaType === mediaType);
        expect(own).not.toEqual([]);
        expect(Object.values(examples).map(({ value }) => value)).toEqual(own.map(({ answer }) => answer));
      }
      for (const { examples } of Object.values(requestBody?.content ?? {})) expect(examples).not.toEqual({});
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.filter(({ example }) => example === undefined)).toEqual([]);
    },
  );

  it.each(operations)(
    '%s: failures are distinguished by their code, and each code has its meaning and an example',
    (_name, { responses }) => {
      for (const [status, response] of Object.entries(responses)) {
        const content = json(response);
        if (content === undefined || status === '200') continue;
        const { oneOf, discriminator } = declared(content.schema);
        const references = (oneOf ?? [content.schema]).map(({ $ref }) => $ref ?? '');
        // RFC 6749 defines the answer to a wrong service client.
        if (references.join().endsWith('/WrongClientResponse')) continue;
        const failures = references.map((reference) => /Error_(\w+)$/.exec(reference)?.[1] ?? '');
        expect(failures.filter((code) => !code.includes(`_${status}`))).toEqual([]);
        expect(failures.filter((code) => !response.description.includes(`\`${code}\`: `))).toEqual([]);
        expect(Object.keys(content.examples ?? {})).toEqual(failures);
        const values = Object.values(content.examples ?? {}).map(({ $ref, value }) => value ?? shared($ref));
        expect(values).toEqual(failures.map((error_code) => expect.objectContaining({ error_code })));
        if (oneOf === undefined) continue;
        expect(discriminator?.propertyName).toBe('error_code');
        expect(Object.keys(discriminator?.mapping ?? {})).toEqual(failures);
      }
    },
  );

  it.each(operations)('%s: answers with 429 and 503 declare Retry-After', (_name, { responses }) => {
    for (const status of ['429', '503']) expect(responses[status]?.headers).toHaveProperty('Retry-After');
  });

  it('declares which token each operation needs', () => {
    const administration = operations.filter(([name]) => name.includes(' /admin/'));
    for (const [, { security }] of administration) expect(security).toEqual([{ access_token: [] }]);
    const others = operations.filter((operation) => !administration.includes(operation));
    const wanted = others.map(([name, { security = [] }]) => [
      name,
      security.flatMap((way) => Object.keys(way).join() || 'none').sort(),
    ]);
    expect(Object.fromEntries(wanted)).toEqual({
      'GET /capabilities': [],
      'POST /login': [],
      'POST /login/passkey-options': [],
      'POST /login/passkey': [],
      'POST /otp-verify': ['access_token', 'none'],
      'POST /otp-resend': [],
      'POST /login/discover': [],
      'GET /otp-qrcode/{uid}': ['access_token', 'none'],
      'POST /totp-secret': ['access_token'],
      'POST /refresh': ['none', 'refresh_token'],
      'POST /logout': ['access_token', 'refresh_token'],
      'GET /user/me': ['access_token'],
      'GET /verify': ['access_token'],
      'POST /user/change-password': ['access_token'],
      'POST /user/reauthenticate': ['access_token'],
      'GET /user/sessions': ['access_token'],
      'DELETE /user/sessions': ['access_token'],
      'DELETE /user/sessions/{sid}': ['access_token'],
      'GET /user/login-history': ['access_token'],
      'GET /user/applications': ['access_token'],
      'POST /introspect': ['service_client'],
      'POST /recovery-codes': ['access_token'],
      'GET /recovery-codes': ['access_token'],
      'POST /passkeys/options': ['access_token'],
      'POST /passkeys': ['access_token'],
      'GET /passkeys': ['access_token'],
      'PATCH /passkeys/{id}': ['access_token'],
      'DELETE /passkeys/{id}': ['access_token'],
      'GET /user/devices': ['access_token'],
      'DELETE /user/devices/{id}': ['access_token'],
      'GET /applications/interactions/{uid}': ['access_token'],
      'POST /applications/interactions/{uid}': ['access_token'],
      'GET /user/grants': ['access_token'],
      'DELETE /user/grants/{id}': ['access_token'],
      'POST /login/external/{id}': ['access_token', 'none'],
      'POST /login/external': [],
      'POST /verify-captcha': [],
      'GET /captcha/challenge': [],
      'POST /forget-password': [],
      'GET /user/change-pwd-req/{uid}': [],
      'POST /user/change-pwd-by-req': [],
      'GET /password-policy': [],
    });
  });

  it('declares nullable fields with the type null', () => {
    expect(contract.components?.schemas?.LoginResponse).toMatchObject({
      properties: { access_token: { type: ['string', 'null'] }, change_uid: { type: ['string', 'null'] } },
    });
    expect(JSON.stringify(contract)).not.toContain('"nullable"');
  });
});

describe('comparing an answer with the document', () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const failure = { error_code: 'AUTH_401003', msg: 'no' };
  const answer = { method: 'GET', url: '/user/change-pwd-req/x?lang=en', status: 401, headers, body: failure };

  it('accepts a declared answer, and paths that are not in the document', () => {
    expect(() => assertDeclaredAnswer(answer)).not.toThrow();
    expect(() => assertDeclaredAnswer({ ...answer, url: '/health/live', status: 418 })).not.toThrow();
  });

  it.each([
    ['another status', { status: 418 }, 'does not declare'],
    ['another code', { body: { ...failure, error_code: 'AUTH_401001' } }, 'not as declared'],
    ['a field too many', { body: { ...failure, secret: 1 } }, 'not as declared'],
    ['a field too few', { body: { error_code: 'AUTH_401003' } }, 'not as declared'],
    ['another media type', { headers: { 'content-type': 'text/html' } }, 'does not declare'],
    ['another method', { method: 'DELETE' }, 'is not in openapi.json'],
    [
      'another wait in the header',
      {
        status: 429,
        headers: { ...headers, 'retry-after': '3' },
        body: { error_code: 'COMMON_429001', msg: 'no', data: { retry_after: 2 } },
      },
      'Retry-After',
    ],
  ])('refuses %s', (_case, change, complaint) => {
    expect(() => assertDeclaredAnswer({ ...answer, ...change })).toThrow(complaint);
  });
});
