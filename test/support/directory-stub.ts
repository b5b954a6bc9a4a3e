import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export interface StubAnswer {
  /** LDAP result code (RFC 4511 §4.1.9). */
  readonly code: number;
  readonly message?: string;
  readonly referral?: string;
}

const ok: StubAnswer = { code: 0 };

/**
 * A fake LDAP server for answers that OpenLDAP cannot give: sub-codes of Active Directory, referrals, entries without a
 * name. It knows only as much BER as binds and searches need.
 */
export class DirectoryStub {
  /** Answer to the bind of a user, that is, of any DN but the service account. */
  userBind: StubAnswer = ok;
  serviceBind: StubAnswer = ok;
  searchResult: StubAnswer = ok;
  /** DNs of the entries that every search finds. */
  entries: string[] = ['uid=somebody,dc=example'];
  /** URLs of search references in each search result. */
  references: string[] = [];
  /** If true, the stub never answers the bind of a user. */
  mute = false;
  /** Number of user binds. */
  userBinds = 0;
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static readonly serviceDn = 'cn=service';

  static async start(): Promise<DirectoryStub> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const stub = new DirectoryStub(server, (server.address() as { port: number }).port);
    server.on('connection', (socket) => stub.serve(socket));
    return stub;
  }

  get url(): string {
    return `ldap://127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.sockets.size;
  }

  get settings(): Record<string, string> {
    return {
      LDAP_URL: this.url,
      LDAP_BIND_DN: DirectoryStub.serviceDn,
      LDAP_BIND_PASSWORD: 'service-password',
      LDAP_SEARCH_BASE: 'dc=example',
    };
  }

  async stop(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    // The requests are small, so each one arrives in one piece.
    socket.on('data', (bytes: Buffer) => {
      const [, id = Buffer.alloc(0), operation = Buffer.alloc(0)] = [0, ...elements(contentOf(bytes))];
      for (const answer of this.answer(operation)) socket.write(element(0x30, id, answer));
    });
  }

  private answer(operation: Buffer): Buffer[] {
    if (operation[0] === 0x60) {
      const [, name = Buffer.alloc(0)] = elements(contentOf(operation));
      const service = contentOf(name).toString() === DirectoryStub.serviceDn;
      if (!service) this.userBinds++;
      if (!service && this.mute) return [];
      return [result(0x61, service ? this.serviceBind : this.userBind)];
    }
    if (operation[0] !== 0x63) return [];
    return [
      ...this.entries.map((dn) => element(0x64, text(dn), element(0x30, attribute('uid', 'somebody')))),
      ...this.references.map((url) => element(0x73, text(url))),
      result(0x65, this.searchResult),
    ];
  }
}

function result(tag: number, { code, message = '', referral }: StubAnswer): Buffer {
  const referrals = referral === undefined ? [] : [element(0xa3, text(referral))];
  return element(tag, element(0x0a, Buffer.from([code])), text(''), text(message), ...referrals);
}

function attribute(type: string, value: string): Buffer {
  return element(0x30, text(type), element(0x31, text(value)));
}

function text(value: string): Buffer {
  return element(0x04, Buffer.from(value));
}

function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

/** Splits a sequence of complete BER elements. */
function elements(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const [start, length] = headerOf(bytes.subarray(at));
    found.push(bytes.subarray(at, at + start + length));
    at += start + length;
  }
  return found;
}

function contentOf(one: Buffer): Buffer {
  const [start, length] = headerOf(one);
  return one.subarray(start, start + length);
}

function headerOf(one: Buffer): [start: number, length: number] {
  const first = one[1] ?? 0;
  const count = first < 0x80 ? 0 : first & 0x7f;
  return [2 + count, count === 0 ? first : one.readUIntBE(2, count)];
}
