import type { RecordedExchange } from '../../../src/openapi/document/recorded-examples';
import type { Answer, Request, TestService } from '../app';
import { contract } from '../contract';
import { FakeValues } from './fake-values';

interface Ask extends Request {
  /** Values of the parameters in path and query. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** The name of the example, where an operation has several. */
  readonly name?: string;
  readonly summary?: string;
}

interface Declared {
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
}

const declared = new Map(
  Object.entries(contract.paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { operationId: string }>).map(([method, { operationId }]) => [
      operationId,
      { path, method: method.toUpperCase() } as Declared,
    ]),
  ),
);

/** The browser of the examples. Its address is one of those for documentation (RFC 5737). */
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const address = '203.0.113.7';
/** Lists are shortened: an example shows what an item looks like. */
const shown = 2;
/** Lists whose length is part of their meaning. */
const whole = new Set(['amr', 'codes', 'hours', 'languages', 'providers', 'sessions', 'transports']);

/** Asks a service for one operation after the other, and keeps requests and answers with fake secrets. */
export class Recorder {
  readonly exchanges = new Map<string, RecordedExchange[]>();
  private readonly fakes = new FakeValues();

  constructor(readonly service: TestService) {}

  /** Calls the operation, records the exchange, and returns the answer as it was. One second passes. */
  async call(operationId: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.silent(operationId, ask);
    const { parameters = {}, body, summary } = ask;
    const failed = answer.status !== 200;
    const recorded: RecordedExchange = {
      name: failed ? String(answer.body?.error_code ?? answer.body?.error) : (ask.name ?? 'success'),
      ...(summary === undefined ? {} : { summary }),
      ...this.fakes.of({
        ...(Object.keys(parameters).length === 0 || failed ? {} : { parameters }),
        ...(body === undefined || failed ? {} : { request: fieldsOf(body) }),
      }),
      status: answer.status,
      mediaType: String(answer.headers['content-type']).split(';', 1)[0]!,
      answer: this.shortened(operationId === 'adminExportUser' ? { ...answer, body: inOrder(answer.body) } : answer),
    };
    const others = this.exchanges.get(operationId) ?? [];
    if (others.some(({ name, mediaType }) => name === recorded.name && mediaType === recorded.mediaType)) {
      throw new Error(`${operationId} has two examples with the name ${recorded.name}`);
    }
    this.exchanges.set(operationId, [...others, recorded]);
    return answer;
  }

  /** Calls the operation without recording it. */
  async silent(operationId: string, { parameters = {}, body, headers, bearer }: Ask = {}): Promise<Answer> {
    const operation = declared.get(operationId);
    if (operation === undefined) throw new Error(`openapi.json has no operation ${operationId}`);
    const used = new Set<string>();
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      used.add(name);
      return encodeURIComponent(parameters[name]!);
    });
    const query = Object.entries(parameters).filter(([name]) => !used.has(name));
    const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, String(value)]));
    this.service.clock.advanceSeconds(1);
    return this.service.send(operation.method, `${path}${query.length > 0 ? `?${search.toString()}` : ''}`, body, {
      bearer,
      ip: address,
      headers: { 'user-agent': browser, 'accept-language': 'en', ...headers },
    });
  }

  /** The answer with fake secrets: JSON with short lists, the first lines of a text, the first bytes of a picture. */
  private shortened({ headers, body, raw }: Answer): unknown {
    const type = String(headers['content-type']);
    if (type.startsWith('application/json')) return this.fakes.of(short(body));
    if (type.startsWith('image/png')) return raw.subarray(0, 8).toString('latin1');
    // The names of the columns. Ids and times in the rows would be others in each recording.
    if (type.startsWith('text/csv')) return `${raw.toString().split('\r\n', 1)[0]}\r\n`;
    const lines = raw.toString().split('\n').filter(Boolean).slice(0, shown);
    return lines.map((line) => `${JSON.stringify(this.fakes.of(JSON.parse(line)))}\n`).join('');
  }
}

/** The rows of an export are in the order of random ids, and an example must be the same each time. */
function inOrder(body: unknown): unknown {
  const withoutIds = (row: object) => JSON.stringify({ ...row, id: '', uid: '', sid: '', event_id: '' });
  const sections = Object.entries(body as object).map(([name, rows]: [string, unknown]) => [
    name,
    Array.isArray(rows) ? rows.toSorted((a: object, b: object) => withoutIds(a).localeCompare(withoutIds(b))) : rows,
  ]);
  return Object.fromEntries(sections);
}

/** A form as the object that the document describes. */
/** A text is a form, or a file of several lines. */
const fieldsOf = (body: unknown): unknown =>
  typeof body === 'string' && !body.includes('\n') ? Object.fromEntries(new URLSearchParams(body)) : body;

function short(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return (whole.has(key) ? value : value.slice(0, shown)).map((one) => short(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, short(part, name)]));
}
