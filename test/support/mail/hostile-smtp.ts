import { createServer, type Server, type Socket } from 'node:net';
import { mutated } from '../fuzz/byte-mutations';
import { listen, portOf } from '../loopback';
import type { SeededNumbers } from '../seeded-numbers';

const tokens = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '-',
    ' ',
    '250',
    '250-',
    '220 ',
    '354 go on\r\n',
    '421 bye\r\n',
    '4',
    '5',
    '2',
    '999',
    '000 ',
  ],
  ...['AUTH CRAM-MD5 XOAUTH2', 'STARTTLS', 'SIZE 1', 'SIZE 99999999999999999999', 'SMTPUTF8', '8BITMIME', 'DSN'],
  ...['\0', '\xff', '\x16\x03\x01\x02\x00', 'enhanced 5.7.1', '5.1.1'],
];

/** A mail server that mutates one reply of each conversation. */
export class HostileSmtp {
  /** Mutates nothing. */
  isHonest = true;
  /** The mails that arrived up to their end. */
  received = 0;
  private readonly sockets = new Set<Socket>();
  private server: Server;

  private constructor(
    private readonly numbers: SeededNumbers,
    private readonly quoted: string,
  ) {
    this.server = createServer((socket) => this.serve(socket));
  }

  /** @param quoted a text that the replies contain */
  static async start(numbers: SeededNumbers, quoted: string): Promise<HostileSmtp> {
    const smtp = new HostileSmtp(numbers, quoted);
    await listen(smtp.server);
    return smtp;
  }

  get url(): string {
    return `smtp://mailer:a-password@127.0.0.1:${portOf(this.server)}`;
  }

  async stop(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    await new Promise((done) => this.server.close(done));
  }

  private serve(socket: Socket): void {
    const { numbers } = this;
    this.sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    // A conversation has about seven replies, and a connection has several conversations.
    let mutateIn = numbers.next(12);
    const send = (text: string) => {
      if (this.isHonest || mutateIn-- !== 0) return void socket.write(text);
      mutateIn = numbers.next(12);
      const bytes = mutated(Buffer.from(text), numbers, { tokens, largest: 300_000 });
      // After a reply that is cut off, the client waits until its time limit, so most connections end.
      socket.write(bytes, () => numbers.next(12) > 0 && socket.end());
    };
    let inText = false;
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (;;) {
        const end = text.indexOf(inText ? '\r\n.\r\n' : '\r\n');
        if (end === -1) return;
        const line = text.slice(0, end);
        text = text.slice(end + (inText ? 5 : 2));
        if (inText) {
          inText = false;
          this.received += 1;
          send(
            numbers.pick([
              `250 2.0.0 ${this.quoted}\r\n`,
              `250 2.0.0 ${this.quoted}\r\n`,
              `451 4.3.0 ${this.quoted}\r\n`,
              `554 5.7.1 ${this.quoted}\r\n`,
            ]),
          );
        } else {
          const reply = this.replyTo(line);
          inText = reply.startsWith('354');
          send(reply);
        }
      }
    });
    send(`220-mail.example.test ${this.quoted}\r\n220 ready\r\n`);
  }

  private replyTo(line: string): string {
    const { numbers, quoted } = this;
    if (/^EHLO/i.test(line)) {
      const offers = [
        'SIZE 10240000',
        'PIPELINING',
        'AUTH PLAIN LOGIN',
        ...(!this.isHonest && numbers.chance(15) ? ['STARTTLS'] : []),
        '8BITMIME',
      ];
      return [...offers.map((offer) => `250-${offer}\r\n`), `250 ${quoted}\r\n`].join('');
    }
    if (/^STARTTLS/i.test(line)) return `220 2.0.0 go on\r\n`;
    if (/^AUTH/i.test(line)) return numbers.chance(90) ? '235 2.7.0 ok\r\n' : `535 5.7.8 ${quoted}\r\n`;
    if (/^RCPT/i.test(line))
      return numbers.pick([
        ...Array<string>(8).fill('250 ok\r\n'),
        `450 4.2.1 ${quoted}\r\n`,
        `550 5.1.1 ${quoted}\r\n`,
      ]);
    if (/^DATA/i.test(line)) return '354 go on\r\n';
    if (/^QUIT/i.test(line)) return '221 bye\r\n';
    return '250 ok\r\n';
  }
}
