import type { ConnectionReader } from './tcp-proxy';

const headerLength = 4;
const command = { query: 3, prepare: 22, execute: 23 } as const;
/** The answer to a prepared statement begins with this status, and then has the number of the statement. */
const prepared = 0;

/** Tables of the workers that send mails and events. What only they write is not part of a request. */
const workersTables = new Set(['mail_outbox', 'event_outbox', 'event_streams']);

/**
 * Finds the commits in the traffic of MariaDB: each COMMIT of a transaction that has written, and each write outside a
 * transaction. It counts them over all connections, and tells which of them loses its answer.
 */
export class MariaDbWrites {
  /** What was committed since `watch`: the first word of the statement, and the tables. */
  readonly committed: string[] = [];
  private lostNumber: number | undefined;

  /** Begins to count. @param lost the number of the commit whose answer is lost, from 0. Default: none */
  watch(lost?: number): void {
    this.committed.length = 0;
    this.lostNumber = lost;
  }

  reader(): ConnectionReader {
    return new CommandReader((what, tables) => {
      if (tables.every((table) => workersTables.has(table))) return false;
      return this.committed.push(`${what} ${tables.join(', ')}`) - 1 === this.lostNumber;
    });
  }
}

/** Reads the commands of one connection, which sends the next command when the last one was answered. */
class CommandReader implements ConnectionReader {
  private readonly statements = new Map<number, string>();
  private pending = Buffer.alloc(0);
  private preparing: string | undefined;
  private answer = Buffer.alloc(0);
  /** The tables that the open transaction has written. Undefined outside a transaction. */
  private written: Set<string> | undefined;

  /** @param commits is called for each commit, and returns true when its answer is lost */
  constructor(private readonly commits: (what: string, tables: string[]) => boolean) {}

  asked(data: Buffer): boolean {
    let lost = false;
    this.pending = Buffer.concat([this.pending, data]);
    while (this.pending.length >= headerLength && this.pending.length >= headerLength + this.pending.readUIntLE(0, 3)) {
      const end = headerLength + this.pending.readUIntLE(0, 3);
      // A command is packet 0 of its exchange. The packets of the handshake have higher numbers.
      if (this.pending[3] === 0) lost = this.take(this.pending.subarray(headerLength, end)) || lost;
      this.pending = this.pending.subarray(end);
    }
    return lost;
  }

  answered(data: Buffer): void {
    if (this.preparing === undefined) return;
    this.answer = Buffer.concat([this.answer, data]);
    if (this.answer.length < headerLength + 5) return;
    if (this.answer[headerLength] === prepared) {
      this.statements.set(this.answer.readUInt32LE(headerLength + 1), this.preparing);
    }
    this.preparing = undefined;
  }

  private take(packet: Buffer): boolean {
    const text = packet.subarray(1).toString();
    switch (packet[0]) {
      case command.prepare:
        this.preparing = text;
        this.answer = Buffer.alloc(0);
        return false;
      case command.query:
        return this.run(text);
      case command.execute:
        return this.run(this.statements.get(packet.readUInt32LE(1)) ?? '');
      default:
        return false;
    }
  }

  private run(statement: string): boolean {
    if (/^\s*(START TRANSACTION|BEGIN)/i.test(statement)) this.written = new Set();
    if (/^\s*ROLLBACK/i.test(statement)) this.written = undefined;
    if (/^\s*COMMIT/i.test(statement)) {
      const tables = [...(this.written ?? [])];
      this.written = undefined;
      return tables.length > 0 && this.commits('COMMIT', tables);
    }
    const [, verb = '', table = ''] =
      /^\s*(INSERT|UPDATE|DELETE)(?:\s+IGNORE)?(?:\s+INTO|\s+FROM)?\s+`?(\w+)/i.exec(statement) ?? [];
    if (verb === '') return false;
    if (this.written === undefined) return this.commits(verb.toUpperCase(), [table]);
    this.written.add(table);
    return false;
  }
}
