import { DatabaseProxy, type Passage } from './database-proxy';

/** What the process sends to the database, or what the database answers. */
type Direction = 'sent' | 'answered';

/** A place in the traffic of a process with its database. */
export interface KillPoint {
  readonly direction: Direction;
  /** Counts the packets of this direction from now on. The first one is 1. */
  readonly packet: number;
  /** Whether this packet still reaches the other side. */
  readonly delivered: boolean;
  /** Counts only packets with this text. */
  readonly containing?: string;
}

const nothing = Buffer.alloc(0);

/** Calls back at a place in the traffic, to kill the process there. */
export class KillProxy extends DatabaseProxy {
  /** Packets since the start. */
  readonly packets: Record<Direction, number> = { sent: 0, answered: 0 };
  private armed: { point: KillPoint; kill: () => void; seen: number } | undefined;

  /** Calls `kill` once, at the given place. */
  arm(point: KillPoint, kill: () => void): void {
    this.armed = { point, kill, seen: 0 };
  }

  protected passage(): Passage {
    return { asked: this.untilKilled('sent'), answered: this.untilKilled('answered') };
  }

  private untilKilled(direction: Direction): (chunk: Buffer) => Buffer {
    let cut = false;
    return (chunk) => {
      // Nothing follows a lost packet on its connection: the process was killed before it could send or read more.
      cut ||= !this.passes(chunk, direction);
      return cut ? nothing : chunk;
    };
  }

  /** A prepared statement, a query and a result each take one chunk, except for large ones. */
  private passes(chunk: Buffer, direction: Direction): boolean {
    const { armed } = this;
    this.packets[direction] += 1;
    if (armed?.point.direction !== direction || !chunk.includes(armed.point.containing ?? '')) return true;
    if (++armed.seen !== armed.point.packet) return true;
    this.armed = undefined;
    armed.kill();
    return armed.point.delivered;
  }
}
