/** First come, first served: whoever enters has the one SQLite connection until the returned function is called. */
export class Gate {
  private tail: Promise<void> = Promise.resolve();

  async enter(): Promise<() => void> {
    const before = this.tail;
    let leave!: () => void;
    this.tail = new Promise((resolve) => (leave = resolve));
    await before;
    return leave;
  }
}
