/** Lets work run while the sum of its memory stays within a limit. The others wait in the order of their calls. */
export class MemoryBudget {
  private used = 0;
  private readonly waiting: { readonly bytes: number; start(): void }[] = [];

  /** @param limit bytes; no single work may need more */
  constructor(private readonly limit: number) {}

  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.waiting.length > 0 || !this.fits(bytes)) {
      await new Promise<void>((start) => this.waiting.push({ bytes, start }));
    } else this.used += bytes;
    try {
      return await work();
    } finally {
      this.used -= bytes;
      this.startNext();
    }
  }

  private startNext(): void {
    for (let next = this.waiting[0]; next && this.fits(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.used += next.bytes;
      next.start();
    }
  }

  private fits(bytes: number): boolean {
    return this.used + bytes <= this.limit;
  }
}
