import { lostTime } from '../lost-time';
import { SeededNumbers } from '../seeded-numbers';
import { mutated } from './byte-mutations';
import type { ReadAnswer } from './answer-reader';
import { type Framing, framingOf, type RequestLine, requestLineOf } from './framing';
import { type Batch, type Exchange, FuzzConnection } from './fuzz-connection';
import { FuzzService, type Report } from './fuzz-service';
import { Grammar, type Mode } from './grammar';
import { faultOf } from './judge';
import type { Lane } from './lane';
import { unlikely } from './operations';
import { bytesOf, type FuzzRequest } from './request';
import { Seen } from './values';

export interface FuzzPlan {
  readonly seed: number;
  /** Requests from the document. */
  readonly fromGrammar: number;
  /** Valid requests whose bytes are changed. */
  readonly fromBytes: number;
}

export interface Finding {
  readonly what: string;
  /** The batch of requests, as it was sent. */
  readonly sent: string;
}

export interface FuzzReport {
  readonly sent: number;
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of requests of each operation that succeeded. */
  readonly successes: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
  /** What the service has written at level `error`. */
  readonly errors: readonly string[];
  /** The program is not running any more. */
  readonly ended: boolean;
  readonly slowestMs: number;
  /** When a third of the requests were sent, and at the end. */
  readonly reports: readonly Report[];
}

interface Piece {
  readonly bytes: Buffer;
  readonly request: FuzzRequest;
  readonly framing: Framing;
  readonly line: RequestLine | undefined;
}

const nothing: FuzzRequest = { operation: undefined, method: 'GET', target: '/', headers: [] };
const lanes = 8;
const mostFindings = 20;
const metricsRequests = 300;
const slowMs = 2000;
/** The slowest ones are sent again. */
const mostSlow = 5;
/** The number of times that a slow answer has to be slow again. */
const repetitions = 3;

const tokens = [
  ...[
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\0',
    '\r',
    'HTTP/1.1',
    ' HTTP/1.0\r\n',
    '\r\nContent-Length: 0',
    '\r\nContent-Length: 7',
  ],
  ...[
    '\r\nTransfer-Encoding: chunked',
    '\r\nTransfer-Encoding: identity',
    '0\r\n\r\n',
    'ffffffffff\r\n',
    '\r\nHost: a',
  ],
  ...['\r\nConnection: close', '\r\nConnection: Upgrade\r\nUpgrade: h2c', '\r\nExpect: 100-continue', '\r\n folded'],
  ...['GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\n'],
  ...[
    '\r\nContent-Encoding: gzip',
    '\r\nContent-Type: text/plain',
    '; charset=utf-16',
    '\r\nAccept: application/x-ndjson',
  ],
  ...[
    '\r\nAuthorization: Bearer a.b.c',
    '\r\nX-HTTP-Method-Override: DELETE',
    '/../',
    '//',
    '/.',
    '%2e%2e/',
    '%00',
    '%',
    '#',
    ';',
    '?',
  ],
  ...['{', '}', '[', ']', '"', '\\', '\\u0000', '\\ud800', ',', ':', 'null', 'true', '1e999', '-0', '{"a":', '/**/'],
  ...[
    '"__proto__":{},',
    '"constructor":{"prototype":{}},',
    '"toString":',
    '\xff',
    '\xc0\xaf',
    '\xef\xbb\xbf',
    '\xed\xa0\x80',
  ],
];

/** Sends requests to the built program, and judges every answer. */
export class HttpFuzz {
  private readonly seen = new Seen();
  private readonly statuses: Record<string, number> = {};
  private readonly successes: Record<string, number> = {};
  private readonly findings: Finding[] = [];
  private readonly slow: { readonly batch: Batch; readonly ms: number }[] = [];
  private slowestMs = 0;
  private sent = 0;

  private constructor(
    private readonly service: FuzzService,
    private readonly plan: FuzzPlan,
  ) {}

  static async run(plan: FuzzPlan, progress: (sent: number) => void = () => undefined): Promise<FuzzReport> {
    const service = await FuzzService.start(lanes);
    try {
      return await new HttpFuzz(service, plan).run(progress);
    } finally {
      await service.stop();
    }
  }

  private async run(progress: (sent: number) => void): Promise<FuzzReport> {
    const { seed, fromGrammar, fromBytes } = this.plan;
    const clients: Lane[] = [];
    for (let n = 0; n < lanes; n++) {
      clients.push(await this.service.lane(n, this.seen, new SeededNumbers(seed + n)));
    }
    const total = fromGrammar + fromBytes;
    const ends = [Math.ceil(total / 3), total];
    const reports: Report[] = [];
    for (const end of ends) {
      await Promise.all(clients.map((lane) => this.drive(lane, end, progress)));
      if (end === total && this.findings.length < mostFindings) {
        await this.metrics(new SeededNumbers(seed));
        await this.repeatSlow();
      }
      if (await this.service.isRunning) reports.push(await this.service.report());
    }
    const { errors } = this.service;
    const { sent, statuses, successes, findings, slowestMs } = this;
    const ended = !(await this.service.isRunning);
    return { sent, statuses, successes, findings, errors, ended, slowestMs, reports };
  }

  /** Sends requests until `end` have been sent by all lanes. */
  private async drive(lane: Lane, end: number, progress: (sent: number) => void): Promise<void> {
    const connection = new FuzzConnection(this.service.port);
    const grammar = new Grammar(lane.numbers, (id) => !unlikely.includes(id) && this.successes[id] === undefined);
    while (this.sent < end && this.findings.length < mostFindings) {
      if (lane.expired.user || lane.expired.admin) await this.service.repair(lane);
      const pieces = this.pieces(lane, grammar);
      this.sent += pieces.length;
      progress(this.sent);
      const batch = batchOf(pieces);
      let exchange = await connection.exchange(batch);
      // The service may have closed an idle connection at the same moment.
      if (exchange.closed && exchange.answers.length === 0 && batch.tail === undefined)
        exchange = await connection.exchange(batch);
      this.judge(lane, pieces, batch, exchange);
    }
    connection.close();
  }

  /** One to five requests. One whose framing is not plain is the last one. */
  private pieces(lane: Lane, grammar: Grammar): Piece[] {
    const size = lane.following === undefined ? lane.numbers.pick([1, 1, 1, 2, 5]) : 1;
    const pieces: Piece[] = [];
    while (pieces.length < size && pieces.at(-1)?.framing !== 'short' && pieces.at(-1)?.framing !== 'unclear') {
      pieces.push(this.sent < this.plan.fromGrammar ? this.fromGrammar(lane, grammar) : this.fromBytes(lane, grammar));
    }
    return pieces;
  }

  private fromGrammar(lane: Lane, grammar: Grammar): Piece {
    // A story ends at its first wrong request.
    const inStory = lane.following !== undefined && lane.numbers.chance(75);
    const mode = lane.numbers.pick<Mode>(['valid', 'valid', 'valid', 'near', 'near', 'near', 'wild']);
    const request = grammar.request(lane, inStory ? 'valid' : mode);
    return pieceOf(bytesOf(request), request);
  }

  private fromBytes(lane: Lane, grammar: Grammar): Piece {
    const { numbers } = lane;
    const mode = numbers.pick<Mode>(['valid', 'valid', 'valid', 'near']);
    const request = { ...grammar.request(lane, mode), as: undefined };
    const change = (bytes: Buffer) => mutated(bytes, numbers, { tokens });
    const place = numbers.next(10);
    if (place < 4 && request.body !== undefined) {
      // With the right Content-Length, so that the body reaches the parser and the handler.
      const changed = { ...request, body: change(request.body) };
      return pieceOf(bytesOf(changed), changed);
    }
    if (place < 6) {
      const target = change(Buffer.from(request.target, 'latin1')).toString('latin1');
      return pieceOf(bytesOf({ ...request, target }), request);
    }
    return pieceOf(change(bytesOf(request)), request);
  }

  private judge(lane: Lane, pieces: readonly Piece[], batch: Batch, exchange: Exchange): void {
    const { answers, closed, cut, problem, ms } = exchange;
    this.slowestMs = Math.max(this.slowestMs, ms);
    if (ms > slowMs) this.slow.push({ batch, ms });
    if (problem !== undefined) this.found(problem, batch);
    answers.forEach((answer, n) => {
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      const fault = faultOf(answer, pieces[n]?.line);
      if (fault !== undefined) this.found(fault, batch);
      if (n < batch.whole) this.learn(lane, pieces[n]!, answer);
    });
    if (batch.tail !== undefined) return;
    if (answers.length > batch.whole) this.found('more answers than requests', batch);
    const isLast = answers.at(-1)?.headers.connection === 'close';
    if (answers.length < batch.whole && !isLast) this.found(`closed after ${answers.length} answers`, batch);
    if (cut) this.found(closed ? 'cut within an answer' : 'bytes after the last answer', batch);
  }

  private learn(lane: Lane, { request, line }: Piece, answer: ReadAnswer): void {
    // Bytes that were changed may be a request of another operation.
    if (line?.method !== request.method || line.target !== request.target) return;
    const isJson = answer.headers['content-type']?.startsWith('application/json') === true;
    const body: unknown = isJson && answer.body.length > 0 ? JSON.parse(answer.body.toString()) : undefined;
    lane.learn(request, answer.status, body);
    const { operation } = request;
    if (operation === undefined || answer.status !== 200 || request.method !== operation.method) return;
    this.successes[operation.id] = (this.successes[operation.id] ?? 0) + 1;
  }

  /** The listener of `/metrics` has a port of its own. */
  private async metrics(numbers: SeededNumbers): Promise<void> {
    const connection = new FuzzConnection(this.service.metricsPort);
    const valid = Buffer.from('GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
    for (let n = 0; n < metricsRequests && this.findings.length < mostFindings; n++) {
      const bytes = n === 0 ? valid : mutated(valid, numbers, { tokens });
      const batch = batchOf([pieceOf(bytes)]);
      const { answers, problem } = await connection.exchange(batch);
      if (problem !== undefined) this.found(problem, batch);
      const wrong = answers.find(({ status }) => status >= 500 || (n === 0 && status !== 200));
      if (wrong !== undefined) this.found(`/metrics answered ${wrong.status}`, batch);
    }
    connection.close();
  }

  /** An answer is slow when it is slow each time, also without the time for which the machine ran other programs. */
  private async repeatSlow(): Promise<void> {
    const connection = new FuzzConnection(this.service.port);
    for (const { batch } of this.slow.sort((a, b) => b.ms - a.ms).slice(0, mostSlow)) {
      let least = Infinity;
      for (let n = 0; n < repetitions && least > slowMs; n++) {
        const lost = lostTime();
        const { ms } = await connection.exchange(batch);
        least = Math.min(least, ms - lost().totalMs);
      }
      if (least > slowMs) this.found(`an answer after ${Math.round(least)} ms, each time`, batch);
    }
    connection.close();
  }

  private found(what: string, { bytes }: Batch): void {
    const text = bytes.toString('latin1');
    const sent = JSON.stringify(text.length > 3000 ? `${text.slice(0, 3000)} … ${text.length} bytes` : text);
    this.findings.push({ what, sent });
  }
}

/** @param request what the bytes were before they were changed */
function pieceOf(bytes: Buffer, request: FuzzRequest = nothing): Piece {
  return { bytes, request, framing: framingOf(bytes), line: requestLineOf(bytes) };
}

function batchOf(pieces: readonly Piece[]): Batch {
  const heads = pieces.flatMap(({ line }) => (line === undefined ? [] : [line.method === 'HEAD']));
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const { framing } = pieces.at(-1)!;
  return framing === 'whole'
    ? { bytes, heads, whole: pieces.length }
    : { bytes, heads, whole: pieces.length - 1, tail: framing };
}
