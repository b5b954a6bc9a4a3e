import { DatabaseProxy, type Passage } from './database-proxy';

const headerLength = 4;
/** The commands of the protocol of MariaDB that carry a statement, or name one that was prepared. */
const command = { query: 3, prepare: 22, execute: 23 } as const;

const begins = /^\s*(START TRANSACTION|BEGIN)/i;
const ends = /^\s*(COMMIT|ROLLBACK)/i;
const changes = /^\s*(INSERT|UPDATE|DELETE|REPLACE)\b/i;
/**
 * The first write of what the service does by itself: it sends mails, events and logout tokens, and checks off-boardings. A request
 * that writes to one of these tables has changed another one before in the same transaction.
 */
const ofWorkers =
  /^\s*(INSERT( IGNORE)? INTO|UPDATE|DELETE FROM)\s+`?(mail_outbox|event_\w+|receiver_\w+|application_logouts|offboardings)\b/i;

/** Where a request stops: before a write, or when the write is done and the service waits for the answer. */
export interface HoldPoint {
  /** The first write is 1. A commit is a write. */
  readonly write: number;
  readonly done: boolean;
}

export interface Write {
  readonly text: string;
  /** In no transaction: it commits by itself. */
  readonly alone: boolean;
}

/** What one request writes. */
export interface Watch {
  /** The statements up to the point, in their order. */
  readonly writes: readonly Write[];
  /** Resolves at the point. */
  readonly held: Promise<void>;
}

interface Watching {
  readonly writes: Write[];
  readonly point: HoldPoint | undefined;
  readonly hold: () => void;
}

/**
 * Stops requests at a chosen write: their connection stays open, and carries nothing any more. So a single SIGKILL finds many
 * requests, each at a place of its own, which the database then sees as it would see one process killed at each of these places.
 */
export class HoldProxy extends DatabaseProxy {
  private watching: Watching | undefined;

  /**
   * From now on, what the process begins to write belongs to one request: the test sends one after the other. A request that is
   * held keeps its transaction, so its later statements never come.
   */
  watch(point?: HoldPoint): Watch {
    const writes: Write[] = [];
    const held = new Promise<void>((hold) => {
      this.watching = { writes, point, hold };
    });
    return { writes, held };
  }

  protected passage(): Passage {
    return new Conversation(() => this.watching);
  }
}

/** One connection of the process, which waits for each answer before its next statement. */
class Conversation implements Passage {
  private unread: Buffer = Buffer.alloc(0);
  private readonly prepared = new Map<number, string>();
  private preparing: { text: string; answer: Buffer } | undefined;
  /** The open transaction, and the request that has written in it. */
  private transaction: { owner?: Watching | 'worker' } | undefined;
  private isHeld: 'asking' | 'waiting' | undefined;

  constructor(private readonly current: () => Watching | undefined) {}

  asked(data: Buffer): Buffer {
    this.unread = Buffer.concat([this.unread, data]);
    const passed: Buffer[] = [];
    while (this.unread.length >= headerLength && this.unread.length >= headerLength + this.unread.readUIntLE(0, 3)) {
      const end = headerLength + this.unread.readUIntLE(0, 3);
      const packet = this.unread.subarray(0, end);
      this.unread = this.unread.subarray(end);
      const text = this.statementOf(packet);
      if (this.isHeld === undefined && text !== undefined) this.note(text);
      if (this.isHeld !== 'asking') passed.push(packet);
    }
    return Buffer.concat(passed);
  }

  answered(data: Buffer): Buffer {
    if (this.preparing !== undefined) {
      const answer = Buffer.concat([this.preparing.answer, data]);
      if (answer.length < headerLength + 5) this.preparing = { ...this.preparing, answer };
      else {
        if (answer[headerLength] === 0) this.prepared.set(answer.readUInt32LE(headerLength + 1), this.preparing.text);
        this.preparing = undefined;
      }
    }
    return this.isHeld === undefined ? data : Buffer.alloc(0);
  }

  private statementOf(packet: Buffer): string | undefined {
    // A command is packet 0 of its exchange. The packets of the handshake have higher numbers.
    if (packet[3] !== 0) return undefined;
    const text = () => packet.subarray(headerLength + 1).toString();
    switch (packet[headerLength]) {
      case command.query:
        return text();
      case command.execute:
        return this.prepared.get(packet.readUInt32LE(headerLength + 1));
      case command.prepare:
        this.preparing = { text: text(), answer: Buffer.alloc(0) };
        return undefined;
      default:
        return undefined;
    }
  }

  private note(text: string): void {
    if (begins.test(text)) this.transaction = {};
    else if (changes.test(text)) this.write(text, this.ownerOf(text));
    else if (ends.test(text)) {
      this.write(text, this.transaction?.owner);
      this.transaction = undefined;
    }
  }

  private ownerOf(text: string): Watching | 'worker' | undefined {
    const known = this.transaction?.owner;
    if (known !== undefined) return known;
    const owner = ofWorkers.test(text) ? 'worker' : this.current();
    if (this.transaction !== undefined) this.transaction.owner = owner;
    return owner;
  }

  private write(text: string, owner: Watching | 'worker' | undefined): void {
    if (owner === undefined || owner === 'worker') return;
    const { writes, point, hold } = owner;
    writes.push({ text: text.replace(/\s+/g, ' ').trim(), alone: this.transaction === undefined });
    if (writes.length !== point?.write) return;
    this.isHeld = point.done ? 'waiting' : 'asking';
    hold();
  }
}
