import { captchaToken } from '../settings';
import { foreignId } from '../routes';
import type { SeededNumbers } from '../seeded-numbers';
import type { Lane } from './lane';
import { listOf, type Operation, operations, resolved, type Schema } from './operations';
import { type FuzzRequest, headerText } from './request';
import { plainValue, strangeText, strangeValue, wellFormed } from './values';

/** `valid`: as the document says. `near`: one thing is wrong. `wild`: several things may be. */
export type Mode = 'valid' | 'near' | 'wild';

/** Paths that the document does not contain. */
const otherPaths = [
  ...[
    '/health/live',
    '/health/ready',
    '/.well-known/jwks.json',
    '/docs',
    '/docs/',
    '/docs/swagger-ui.css',
    '/',
    '/nowhere',
    '/LOGIN',
    '/login/',
  ],
  ...['/login/external/fuzz/callback', '/login/external/fuzz/callback?state=a&code=b&iss=c'],
  ...['/admin', '/admin/', '/admin/nowhere', '/metrics', '/user', '/favicon.ico', '/openapi.json/', '/login/passkey/x'],
];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'];
const agents = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
  'curl/8.5.0',
  '('.repeat(900),
  `Mozilla/5.0 ${'Version/1 '.repeat(200)}`,
];
const languages = ['de', 'zh-CN', 'en', 'zh-CN;q=0.1, de;q=0.9', '*', 'x'.repeat(500), ';q=,,;;q=9', 'de-'.repeat(300)];
const mediaTypes = [
  ...['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/json; charset=latin1'],
  ...['application/json;charset=utf-8', 'application/JSON', 'application/x-www-form-urlencoded', 'x', ';', '*/*'],
];
const policies = [
  { min_length: 10, breach_check: true },
  { min_length: 20, require_special: true },
  { forbid_common: false },
];
/**
 * Keys of the configuration and a value that is accepted. HOST of SMTP is not among them: the service would look up and
 * connect to whatever host the fuzz names.
 */
const configuration: readonly (readonly [group: string, key: string, value: string])[] = [
  ['SMTP', 'SENDER', 'Portal <portal@example.com>'],
  ['SMTP', 'PORT', '25'],
  ['SMTP', 'USER', 'mailer'],
  ['SMTP', 'TLS', 'starttls'],
  ['SMTP', 'SECRET', 'a secret'],
  ['CONFIG', 'PASSWORD_POLICY', ''],
];
/** The names under which answers contain the values of these parameters and fields. */
const sources: Readonly<Record<string, string>> = {
  tenant_id: 'id of /admin/tenants',
  org_unit_id: 'id of /admin/org-units',
  actor_id: 'user_id',
  username: 'login_name',
  token: 'access_token',
};

/** The list whose items the path names. */
const idsOf = (template: string): string =>
  template.startsWith('/login/external/') ? '/admin/identity-providers' : listOf(template);

/** Makes requests from the document. */
export class Grammar {
  /** @param missing whether no request of the operation has succeeded so far, although one can */
  constructor(
    private readonly numbers: SeededNumbers,
    private readonly missing: (operationId: string) => boolean = () => false,
  ) {}

  request(lane: Lane, mode: Mode): FuzzRequest {
    const { numbers } = this;
    if (lane.following === undefined && numbers.chance(4)) return this.elsewhere(lane);
    const story = operations.find(({ id }) => id === lane.following);
    lane.following = undefined;
    const operation = story ?? this.operation(mode);
    const wrong = mode === 'valid' ? 0 : mode === 'near' ? 1 : 1 + numbers.next(4);
    const parts = { path: 0, query: 0, headers: 0, body: 0, method: 0 };
    for (let n = 0; n < wrong; n++) parts[this.part(operation)]++;
    const [group, key, value] = numbers.pick(configuration);
    const stored = value === '' ? JSON.stringify(numbers.pick(policies)) : value;
    const [config, own] = operation.template.includes('{key}') ? [{ group, key }, { value: stored }] : [{}, {}];
    const body = operation.body && this.body(lane, operation, parts.body, own);
    const { headers, as } = this.headers(lane, operation, parts.headers, body !== undefined);
    const method = parts.method > 0 ? numbers.pick(methods) : operation.method;
    const target = this.path(lane, operation, parts.path, config) + this.query(lane, operation, parts.query);
    return { operation, method, target, headers, body, ...(wrong === 0 && as !== undefined && { as }) };
  }

  /** Valid requests prefer operations that have not succeeded yet, so that each one does in a run of a minute. */
  private operation(mode: Mode): Operation {
    const missing = mode === 'valid' && this.numbers.chance(25) ? operations.filter(({ id }) => this.missing(id)) : [];
    return this.numbers.pick(missing.length > 0 ? missing : operations);
  }

  /** What is wrong in a request: mostly the body, if there is one. */
  private part({ parameters, body }: Operation): 'path' | 'query' | 'headers' | 'body' | 'method' {
    const has = (place: string) => parameters.some((one) => one.in === place);
    return this.numbers.pick([
      ...(body === undefined ? [] : (['body', 'body', 'body', 'body', 'body', 'body'] as const)),
      ...(has('path') ? (['path', 'path'] as const) : []),
      ...(has('query') ? (['query', 'query', 'query'] as const) : []),
      ...(['headers', 'headers', 'method'] as const),
    ]);
  }

  private elsewhere(lane: Lane): FuzzRequest {
    const { numbers } = this;
    if (numbers.chance(15)) return this.logoutToken(lane);
    // The document is long.
    const path = numbers.chance(3)
      ? '/openapi.json'
      : numbers.pick([...otherPaths, `/${encodeURIComponent(strangeText(numbers))}`]);
    const method = numbers.chance(70) ? 'GET' : numbers.pick(methods);
    const headers = [['Authorization', `Bearer ${lane.user.access}`] as const, ...this.strangeHeaders()];
    const body = numbers.chance(30) ? Buffer.from('{"a":1}') : undefined;
    return { operation: undefined, method, target: path, headers, body };
  }

  /** What an identity provider sends. No document of clients describes it. */
  private logoutToken(lane: Lane): FuzzRequest {
    const { numbers } = this;
    const id = lane.seen.pick('id of /admin/identity-providers', numbers) ?? 'nobody';
    const fields = { logout_token: numbers.pick(['a.b.c', lane.user.access, strangeText(numbers)]) };
    return {
      ...{ operation: undefined, method: 'POST', target: `/login/external/${id}/backchannel-logout` },
      headers: [
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ...(numbers.chance(30) ? this.strangeHeaders() : []),
      ],
      body: Buffer.from(new URLSearchParams(asTexts(fields)).toString()),
    };
  }

  private path(lane: Lane, operation: Operation, wrong: number, config: Readonly<Record<string, string>>): string {
    const { template, parameters } = operation;
    const places = parameters.filter((one) => one.in === 'path');
    const strangeAt = wrong > 0 ? this.numbers.next(places.length) : -1;
    return places.reduce((path, { name }, n) => {
      const known = config[name] ?? this.named(lane, template, name);
      return path.replace(`{${name}}`, n === strangeAt ? this.strangeSegment() : encodeURIComponent(known));
    }, template);
  }

  private named(lane: Lane, template: string, name: string): string {
    if (template.includes('otp-qrcode')) return lane.user.uid;
    const list = template.includes('change-pwd-req') ? 'req_uid' : `id of ${idsOf(template)}`;
    return lane.seen.pick(name === 'id' || list === 'req_uid' ? list : name, this.numbers) ?? foreignId;
  }

  private strangeSegment(): string {
    const text = this.numbers.pick([
      foreignId,
      foreignId.toUpperCase(),
      'x'.repeat(101),
      'x'.repeat(4000),
      '%',
      '%zz',
      '%ff',
      '%2f',
      '..',
      '',
    ]);
    return this.numbers.chance(50) ? text : encodeURIComponent(strangeText(this.numbers));
  }

  private query(lane: Lane, { template, parameters }: Operation, wrong: number): string {
    const { numbers } = this;
    const list = listOf(template);
    const pairs = parameters
      .filter((one) => one.in === 'query' && numbers.chance(wrong > 0 ? 60 : 30))
      .map(({ name, schema }): [string, string] => {
        const source = name === 'after' ? `after of ${list}` : (sources[name] ?? name);
        return [name, String(this.known(lane, source, schema))];
      })
      // Anything else than a cursor of this list is refused.
      .filter(([name]) => name !== 'after' || lane.seen.pick(`after of ${list}`, numbers) !== undefined);
    for (let n = 0; n < wrong; n++) {
      const one = pairs.length > 0 ? numbers.pick(pairs) : (['limit', '10'] as [string, string]);
      if (numbers.chance(50)) one[1] = strangeText(numbers);
      else
        pairs.push(
          numbers.pick([one, [`${one[0]}[]`, '1'], [`${one[0]}[$ne]`, '1'], ['nobody', strangeText(numbers)]]),
        );
    }
    const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    if (wrong > 0 && numbers.chance(10)) return `?${text}&%=%zz&&==&a`;
    return text === '' ? '' : `?${text}`;
  }

  private body(lane: Lane, operation: Operation, wrong: number, own: object): Buffer {
    const { numbers } = this;
    const schema = resolved(operation.body!);
    const fields: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (schema.required?.includes(name) || numbers.chance(40)) fields[name] = this.field(lane, name, property);
    }
    // Values that become wrong may be shared with other requests.
    Object.assign(fields, structuredClone({ ...fields, ...lane.meaningful(operation), ...own }));
    for (let n = 0; n < wrong; n++) this.spoil(fields, schema);
    const text = this.textOf(operation, fields);
    return wrong > 0 && numbers.chance(12) ? this.noBody(text) : Buffer.from(text);
  }

  private textOf({ mediaType }: Operation, fields: Readonly<Record<string, unknown>>): string {
    if (mediaType === 'application/json') return JSON.stringify(fields);
    if (mediaType === 'text/csv') return `login_name,nickname\nfuzz-${this.numbers.next(1_000_000)},Fuzz\n`;
    return new URLSearchParams(asTexts(fields)).toString();
  }

  private field(lane: Lane, name: string, schema: Schema): unknown {
    if (name === 'captcha_token') return captchaToken;
    if (name === 'to') return 'admin@example.com';
    return this.known(lane, sources[name] ?? name, resolved(schema));
  }

  private known(lane: Lane, source: string, schema: Schema): unknown {
    const seen = schema.enum === undefined ? lane.seen.pick(source, this.numbers) : undefined;
    return seen ?? plainValue(schema, this.numbers);
  }

  /** Makes one field wrong, at any depth. */
  private spoil(fields: Record<string, unknown>, schema: Schema): void {
    const { numbers } = this;
    const names = [...Object.keys(fields), ...Object.keys(schema.properties ?? {})];
    const name = names.length > 0 && numbers.chance(90) ? numbers.pick(names) : String(strangeText(numbers));
    const inside = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof inside === 'object' && inside !== null && numbers.chance(75)) {
      this.spoil(inside as Record<string, unknown>, {});
    } else if (numbers.chance(20)) {
      delete fields[name];
    } else {
      Object.defineProperty(fields, name, {
        value: structuredClone(strangeValue(numbers)),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }

  /** Bytes that are no body of the operation. */
  private noBody(text: string): Buffer {
    const { numbers } = this;
    const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
    return numbers.pick([
      () => Buffer.alloc(0),
      () =>
        Buffer.from(
          numbers.pick(['null', '[]', '1', '"a"', 'true', '{', '{"a":}', "{'a':1}", '{"a":1}{"a":1}', 'NaN', ' ']),
        ),
      () => Buffer.from(`[${text}]`),
      () => Buffer.from(`\ufeff${text}`),
      () => Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.of(0xff, 0xc0, 0x80), Buffer.from(text.slice(-2))]),
      () => Buffer.from(text, 'utf16le'),
      () => Buffer.from(nested('[', ']', numbers.pick([10, 25, 4000]))),
      () => Buffer.from(nested('{"a":', '}', numbers.pick([10, 25, 2000])).replace('}', '1}')),
      () => Buffer.from(`{"__proto__":{"is_admin":true},${text.slice(1)}`),
      () => Buffer.from(`{"constructor":{"prototype":{"is_admin":true}},${text.slice(1)}`),
      () => Buffer.from(text.replace('{', `{"padding":"${'x'.repeat(numbers.pick([12_000, 17_000, 60_000]))}",`)),
      () => Buffer.from(text.replace(/"(\w+)":/, '"$1":1,"$1":')),
      () => Buffer.from(`{${Array.from({ length: 1000 }, (_, n) => `"k${n}":${n}`).join()}}`),
      () => Buffer.from(text + text),
    ])();
  }

  private headers(
    lane: Lane,
    operation: Operation,
    wrong: number,
    hasBody: boolean,
  ): { headers: (readonly [string, string])[]; as?: 'user' | 'admin' } {
    const { numbers } = this;
    const headers: (readonly [string, string])[] = [];
    if (hasBody) headers.push(['Content-Type', operation.mediaType!]);
    const credential = this.credential(lane, operation);
    if (credential.value !== undefined) headers.push(['Authorization', credential.value]);
    if (numbers.chance(30)) headers.push(['User-Agent', numbers.pick(agents)]);
    if (numbers.chance(20)) headers.push(['Accept-Language', numbers.pick(languages)]);
    // An export reads all rows.
    if (operation.exports && numbers.chance(2)) headers.push(['Accept', 'application/x-ndjson']);
    if (wrong === 0) return { headers, as: credential.as };
    headers.push(...this.strangeHeaders());
    if (numbers.chance(50)) return { headers: headers.filter(() => !numbers.chance(40)) };
    const instead = numbers.pick([...mediaTypes, headerText(strangeText(numbers))]);
    return { headers: headers.map((one) => (one[0] === 'Content-Type' ? (['Content-Type', instead] as const) : one)) };
  }

  private credential(lane: Lane, { schemes, template }: Operation): { value?: string; as?: 'user' | 'admin' } {
    const { numbers } = this;
    const { user, admin, client, seen } = lane;
    if (schemes.length === 0) return {};
    if (schemes.includes('service_client')) {
      return { value: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` };
    }
    if (!schemes.includes('access_token'))
      return { value: `Bearer ${seen.pick('refresh_token', numbers) ?? user.refresh}` };
    if (numbers.chance(3)) {
      const others = [
        seen.pick('access_token', numbers),
        user.refresh,
        `${user.access.slice(0, -3)}abc`,
        'a.b.c',
        '',
        admin.access,
      ];
      return { value: `Bearer ${numbers.pick(others) ?? 'x'}` };
    }
    const as = template.startsWith('/admin') ? 'admin' : 'user';
    return { value: `Bearer ${lane[as].access}`, as };
  }

  private strangeHeaders(): (readonly [string, string])[] {
    const { numbers } = this;
    return Array.from({ length: 1 + numbers.next(3) }, () =>
      numbers.pick<() => readonly [string, string]>([
        () => ['X-Request-Id', numbers.pick(['abcdefgh-1', 'x', headerText(strangeText(numbers))])],
        () => ['X-Forwarded-For', numbers.pick(['203.0.113.7', '::1, 1.2.3.4', headerText(strangeText(numbers))])],
        () => ['Origin', numbers.pick(['https://portal.example', 'null', headerText(strangeText(numbers))])],
        () => ['Access-Control-Request-Method', numbers.pick(['POST', headerText(strangeText(numbers))])],
        () => ['Access-Control-Request-Headers', headerText(strangeText(numbers))],
        () => [
          'Traceparent',
          numbers.pick([`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, headerText(strangeText(numbers))]),
        ],
        () => ['Accept', numbers.pick(['*/*', 'application/json', 'text/html;q=x', headerText(strangeText(numbers))])],
        () => ['Content-Encoding', numbers.pick(['gzip', 'identity', 'br, gzip'])],
        () => ['Cookie', `a=${headerText(strangeText(numbers))}`],
        () => ['If-None-Match', '*'],
        () => [numbers.pick(['If-Match', 'If-Range']), numbers.pick(['"x"', '*', headerText(strangeText(numbers))])],
        () => [
          'If-Unmodified-Since',
          numbers.pick(['Thu, 01 Jan 1970 00:00:00 GMT', headerText(strangeText(numbers))]),
        ],
        () => ['Range', numbers.pick(['bytes=0-3', 'bytes=99999999-', headerText(strangeText(numbers))])],
        () => ['Expect', numbers.pick(['100-continue', 'nothing'])],
        () => [
          'Authorization',
          numbers.pick(['Basic', 'Bearer', 'Bearer  x', `Basic ${'Og=='.repeat(50)}`, 'Digest a="b"']),
        ],
        () => ['X-Long', 'x'.repeat(numbers.pick([1000, 10_000, 17_000]))],
        () => [`X-${'y'.repeat(numbers.next(40))}`, headerText(strangeText(numbers))],
      ])(),
    );
  }
}

const asTexts = (fields: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      return [wellFormed(name), wellFormed(text)];
    }),
  );
