import { createServer, type Server, type Socket } from 'node:net';
import { attribute, contentOf, element, elements, text } from './ber';
import { listen } from './loopback';

export interface StubAnswer {
  /** LDAP result code (RFC 4511 §4.1.9). */
  readonly code: number;
  readonly message?: string;
  readonly referral?: string;
}

export type StubQuestion = 'service bind' | 'search' | 'user bind';

/** Raw bytes that are sent instead of an answer. */
export interface HostileAnswer {
  readonly bytes: Buffer;
  /** True if the stub ends its side of the connection after the bytes. */
  readonly end: boolean;
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
  /** Attributes of every entry, besides the login name that the search asked for. */
  attributes: Record<string, string> = {};
  /** URLs of search references in each search result. */
  references: string[] = [];
  /** If true, the stub never answers the bind of a user. */
  mute = false;
  /** Returns the bytes to send instead of the right answer, or undefined. `id` is the whole message id element. */
  lie: (question: StubQuestion, id: Buffer) => HostileAnswer | undefined = () => undefined;
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
    const stub = new DirectoryStub(server, await listen(server));
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
    await new Promise((closed) => this.server.close(closed));
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    // The requests are small, so each one arrives in one piece.
    socket.on('data', (bytes: Buffer) => {
      const [id = Buffer.alloc(0), operation = Buffer.alloc(0)] = partsOf(bytes);
      const question = questionOf(operation);
      const lie = question === undefined ? undefined : this.lie(question, id);
      if (lie === undefined) for (const answer of this.answer(operation)) socket.write(element(0x30, id, answer));
      else socket.write(lie.bytes);
      if (lie?.end === true) socket.end();
    });
  }

  private answer(operation: Buffer): Buffer[] {
    const question = questionOf(operation);
    if (question === undefined) return [];
    if (question === 'user bind') this.userBinds++;
    if (question === 'user bind' && this.mute) return [];
    if (question !== 'search') return [result(0x61, question === 'service bind' ? this.serviceBind : this.userBind)];
    return [
      ...this.entries.map((dn) => {
        const values = Object.entries({ uid: nameAskedFor(operation), ...this.attributes });
        return element(0x64, text(dn), element(0x30, ...values.map(([name, value]) => attribute(name, value))));
      }),
      ...this.references.map((url) => element(0x73, text(url))),
      result(0x65, this.searchResult),
    ];
  }
}

/** Returns no parts for the rest of a request that came in several pieces. */
function partsOf(message: Buffer): Buffer[] {
  try {
    return elements(contentOf(message));
  } catch {
    return [];
  }
}

function questionOf(operation: Buffer): StubQuestion | undefined {
  if (operation[0] === 0x63) return 'search';
  if (operation[0] !== 0x60) return undefined;
  const [, name = Buffer.alloc(0)] = partsOf(operation);
  return contentOf(name).toString() === DirectoryStub.serviceDn ? 'service bind' : 'user bind';
}

/** The value of the first comparison in the filter of a search, such as `(uid=alice)`. */
function nameAskedFor(search: Buffer): string {
  let filter = partsOf(search)[6];
  // AND, OR and NOT contain further filters.
  while (filter !== undefined && [0xa0, 0xa1, 0xa2].includes(filter[0]!)) [filter] = partsOf(filter);
  const [, value] = filter?.[0] === 0xa3 ? partsOf(filter) : [];
  return value === undefined ? 'somebody' : contentOf(value).toString();
}

export function result(tag: number, { code, message = '', referral }: StubAnswer): Buffer {
  const referrals = referral === undefined ? [] : [element(0xa3, text(referral))];
  return element(tag, element(0x0a, Buffer.from([code])), text(''), text(message), ...referrals);
}
