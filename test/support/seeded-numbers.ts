/** Pseudorandom numbers from a seed, so that a run can be repeated (mulberry32). */
export class SeededNumbers {
  constructor(private state: number) {}

  /** Returns a number from 0 to `below` - 1. */
  next(below: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.next(1000) < percent * 10;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.next(choices.length)]!;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.next(256)));
  }
}
