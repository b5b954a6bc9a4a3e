import { once } from 'node:events';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import type { Certificate } from './certificates';
import { eventually } from './eventually';
import { freePort } from './free-port';

export type SmtpSecurity = 'none' | 'starttls' | 'tls';

export interface SmtpOptions {
  /** Default: `none`. With `starttls` the server refuses mails without TLS, so each mail that arrives used TLS. */
  security?: SmtpSecurity;
  /** Needed for `starttls` and `tls`. A test may pass one with a wrong name or of an unknown authority. */
  certificate?: Certificate;
  /** If set, the server accepts mails only after a login with this account. */
  account?: { user: string; password: string };
}

export interface ReceivedMail {
  /** Envelope: MAIL FROM and RCPT TO. */
  from: string;
  to: string[];
  /** Whether the connection was encrypted. */
  secure: boolean;
  /** User name of the SMTP login, if there was one. */
  user?: string;
  mail: Email;
  raw: string;
}

type Mood =
  | { kind: 'accept' }
  | { kind: 'refuse'; at: 'recipient' | 'text'; code: number }
  | { kind: 'quote'; code: number }
  | { kind: 'hang'; at: 'greeting' | 'text' };

/** A mail server that keeps the mails that it receives. Tests can make it refuse mails, hang, or stop. */
export class Smtp {
  readonly messages: ReceivedMail[] = [];
  /** Number of connections since `start`, including those that never send a greeting. */
  connectionCount = 0;
  /** Number of mails that were received completely and never confirmed, because the server hangs. */
  unconfirmed = 0;
  private readonly sockets = new Set<Socket>();
  private mood: Mood = { kind: 'accept' };
  private server: SMTPServer | undefined;

  private constructor(
    readonly port: number,
    private readonly options: SmtpOptions,
  ) {}

  static async start(options: SmtpOptions = {}): Promise<Smtp> {
    const { security = 'none', certificate } = options;
    if (security !== 'none' && certificate === undefined) throw new Error(`${security} needs a certificate`);
    const smtp = new Smtp(await freePort(), { ...options, security });
    await smtp.restart();
    return smtp;
  }

  get host(): string {
    return '127.0.0.1';
  }

  /** `smtp://127.0.0.1:port`, or `smtps://` with implicit TLS. The account is not part of it. */
  get url(): string {
    return `${this.options.security === 'tls' ? 'smtps' : 'smtp'}://${this.host}:${this.port}`;
  }

  /** Accepts mails again. Sessions that hang stay as they are. */
  accept(): void {
    this.mood = { kind: 'accept' };
  }

  /** Refuses mails with this code: 4xx is a temporary failure, 5xx a permanent one. */
  refuse(code: number, at: 'recipient' | 'text' = 'text'): void {
    this.mood = { kind: 'refuse', at, code };
  }

  /** Refuses mails with a reply that quotes their text, as spam filters do. */
  quote(code: number): void {
    this.mood = { kind: 'quote', code };
  }

  /** Accepts connections and never answers. With `text` it receives the whole mail, but never confirms it. */
  hang(at: 'greeting' | 'text' = 'greeting'): void {
    this.mood = { kind: 'hang', at };
  }

  /** Waits until there are at least `count` messages, and returns all of them. */
  async waitFor(count: number, timeout = 60_000): Promise<ReceivedMail[]> {
    await eventually(() => this.messages.length >= count, {
      what: `${count} messages, ${this.messages.length} at first`,
      timeout,
    });
    return this.messages;
  }

  /** Listens again on the same port. A running server is stopped first. */
  async restart(): Promise<void> {
    await this.stop();
    const server = new SMTPServer(this.serverOptions());
    // A client that disconnects early is not an error of the server.
    server.on('error', () => undefined);
    const listening = server.listen(this.port, this.host);
    listening.prependListener('connection', (socket: Socket) => {
      this.connectionCount++;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    await once(listening, 'listening');
    this.server = server;
  }

  /** Closes the port and cuts every open session. A second call does nothing. */
  async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    const closed = new Promise<void>((resolve) => server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  private serverOptions(): SMTPServerOptions {
    const { security, certificate, account } = this.options;
    return {
      name: 'mail.example.test',
      secure: security === 'tls',
      key: certificate?.key,
      cert: certificate?.cert,
      disabledCommands: [...(security === 'starttls' ? [] : ['STARTTLS']), ...(account ? [] : ['AUTH'])],
      allowInsecureAuth: security === 'none',
      authOptional: account === undefined,
      disableReverseLookup: true,
      logger: false,
      onConnect: (_session, callback) => {
        if (!this.hangs('greeting')) callback();
      },
      onAuth: (login, _session, callback) => {
        const known = login.username === account?.user && login.password === account?.password;
        callback(known ? null : reply(535, 'Authentication failed'), { user: login.username });
      },
      onMailFrom: (_address, session, callback) =>
        callback(security === 'starttls' && !session.secure ? reply(530, 'Must issue STARTTLS first') : null),
      onRcptTo: (_address, _session, callback) => callback(this.refusal('recipient')),
      onData: (stream, session, callback) => {
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) };
        const sender = { secure: session.secure, user: session.user as string | undefined };
        void buffer(stream)
          .then((raw) => this.receive({ ...envelope, ...sender }, raw, callback))
          .catch(callback);
      },
    };
  }

  private async receive(
    envelope: Omit<ReceivedMail, 'mail' | 'raw'>,
    raw: Buffer,
    answer: (error?: Error | null) => void,
  ): Promise<void> {
    if (this.hangs('text')) {
      this.unconfirmed++;
      return;
    }
    const refusal = this.refusal('text');
    if (refusal) return answer(refusal);
    if (this.mood.kind === 'quote') {
      const { subject, text } = await PostalMime.parse(raw);
      return answer(reply(this.mood.code, `Refused: ${subject} ${text}`.replace(/\s+/g, ' ').slice(0, 1500)));
    }
    this.messages.push({ ...envelope, raw: raw.toString(), mail: await PostalMime.parse(raw) });
    answer();
  }

  private hangs(at: 'greeting' | 'text'): boolean {
    return this.mood.kind === 'hang' && this.mood.at === at;
  }

  private refusal(at: 'recipient' | 'text'): Error | null {
    const { mood } = this;
    return mood.kind === 'refuse' && mood.at === at ? reply(mood.code, 'Mailbox unavailable') : null;
  }
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
