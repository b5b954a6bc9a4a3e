export interface ReadAnswer {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type State =
  | { readonly in: 'head' }
  | { readonly in: 'body'; readonly left: number }
  | { readonly in: 'chunk size' }
  | { readonly in: 'chunk'; readonly left: number }
  | { readonly in: 'trailer' }
  | { readonly in: 'rest' };

const line = /^HTTP\/1\.1 (\d{3}) [ -~]*$/;
const blank = Buffer.from('\r\n\r\n');

/** Reads the answers on one connection as strictly as RFC 9112 says. Bytes that are no answer set `problem`. */
export class AnswerReader {
  readonly answers: ReadAnswer[] = [];
  problem: string | undefined;
  private pending: Buffer = Buffer.alloc(0);
  private state: State = { in: 'head' };
  private head: Omit<ReadAnswer, 'body'> = { status: 0, headers: {} };
  private chunks: Buffer[] = [];

  /** @param isHead whether the request with this number is HEAD, or undefined if that is not known */
  constructor(private readonly isHead: (n: number) => boolean | undefined) {}

  /** The connection has ended within an answer. */
  get isCut(): boolean {
    return this.state.in !== 'head' || this.pending.length > 0;
  }

  push(bytes: Buffer): void {
    this.pending = this.pending.length === 0 ? bytes : Buffer.concat([this.pending, bytes]);
    while (this.problem === undefined && this.step());
  }

  /** The server has ended the connection. */
  end(): void {
    if (this.state.in === 'rest') {
      this.chunks.push(this.pending);
      this.pending = Buffer.alloc(0);
      this.complete();
      return;
    }
    // The answer to a HEAD request, when the method of the request was not known.
    const unknown = this.isOfHead() === undefined;
    if (unknown && this.state.in !== 'head' && this.pending.length === 0 && this.chunks.length === 0) this.complete();
  }

  /**
   * A request that the parser refuses is answered with a body also when it began with HEAD. No answer follows on that
   * connection.
   */
  private isOfHead(): boolean | undefined {
    const known = this.isHead(this.answers.length);
    return known === true && this.head.headers.connection === 'close' ? undefined : known;
  }

  /** @returns whether there may be more to read in the bytes so far */
  private step(): boolean {
    switch (this.state.in) {
      case 'head':
        return this.readHead();
      case 'body':
        if (this.isWithoutBody()) return this.complete();
        return this.take(this.state.left, 'body') && this.complete();
      case 'chunk size':
        if (this.chunks.length === 0 && this.isWithoutBody()) return this.complete();
        return this.readChunkSize();
      case 'chunk':
        if (!this.take(this.state.left, 'chunk')) return false;
        this.state = { in: 'chunk size' };
        return true;
      case 'trailer':
        if (this.pending.length < 2) return false;
        this.pending = this.pending.subarray(2);
        return this.complete();
      case 'rest':
        this.chunks.push(this.pending);
        this.pending = Buffer.alloc(0);
        return false;
    }
  }

  private readHead(): boolean {
    const end = this.pending.indexOf(blank);
    if (end === -1) {
      const start = this.pending.subarray(0, 9).toString('latin1');
      if (!'HTTP/1.1 '.startsWith(start) && start !== 'HTTP/1.1 ') this.problem = `bytes that are no answer: ${start}`;
      return false;
    }
    const [first = '', ...fields] = this.pending.subarray(0, end).toString('latin1').split('\r\n');
    this.pending = this.pending.subarray(end + blank.length);
    const status = Number(line.exec(first)?.[1] ?? 0);
    const wrong = fields.find((field) => !/^[\w-]+: ?[ -~]*$/.test(field));
    if (status < 100 || wrong !== undefined) {
      this.problem = `a head that is not well formed: ${status < 100 ? first : wrong}`;
      return false;
    }
    // 100 Continue is not the final answer.
    if (status < 200) return true;
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    );
    this.head = { status, headers };
    this.chunks = [];
    if (status === 204 || status === 304 || this.isOfHead() === true) return this.complete();
    const length = headers['content-length'];
    if (headers['transfer-encoding'] === 'chunked') this.state = { in: 'chunk size' };
    else if (length !== undefined) this.state = { in: 'body', left: Number(length) };
    else this.state = { in: 'rest' };
    return true;
  }

  /** No body of this service begins like an answer, so the answer before it has no body. */
  private isWithoutBody(): boolean {
    if (this.isOfHead() !== undefined) return false;
    return this.pending.subarray(0, 9).toString('latin1') === 'HTTP/1.1 ';
  }

  private readChunkSize(): boolean {
    // The end of the chunk before it, and the size.
    const found = /^(\r\n)?([0-9a-f]{1,8})\r\n/i.exec(this.pending.subarray(0, 16).toString('latin1'));
    if (found === null) {
      if (this.pending.length >= 16) this.problem = 'a chunk without a size';
      return false;
    }
    this.pending = this.pending.subarray(found[0].length);
    const left = parseInt(found[2]!, 16);
    this.state = left === 0 ? { in: 'trailer' } : { in: 'chunk', left };
    return true;
  }

  private take(left: number, state: 'body' | 'chunk'): boolean {
    const part = this.pending.subarray(0, left);
    this.chunks.push(part);
    this.pending = this.pending.subarray(part.length);
    this.state = { in: state, left: left - part.length };
    return part.length === left;
  }

  private complete(): true {
    this.answers.push({ ...this.head, body: Buffer.concat(this.chunks) });
    this.chunks = [];
    this.state = { in: 'head' };
    return true;
  }
}
