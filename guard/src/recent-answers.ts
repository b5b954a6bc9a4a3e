/**
 * A cache with a maximum of entries that keeps the ones used last. It has two generations and drops the older one as a
 * whole, because deleting single entries from the front of a large Map is slow in V8.
 */
export class RecentAnswers<Value> {
  private young = new Map<string, { readonly value: Value; readonly until: number }>();
  private old = new Map<string, { readonly value: Value; readonly until: number }>();

  /** @param max at least 2 */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.young.size + this.old.size;
  }

  /** @param now of the same clock as `until` of `set` */
  get(key: string, now: number): Value | undefined {
    const entry = this.young.get(key) ?? this.old.get(key);
    if (entry === undefined) return undefined;
    this.remove(key);
    if (entry.until <= now) return undefined;
    this.add(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, until: number): void {
    this.remove(key);
    this.add(key, { value, until });
  }

  private add(key: string, entry: { readonly value: Value; readonly until: number }): void {
    if (this.young.size >= Math.floor(this.max / 2)) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, entry);
  }

  private remove(key: string): void {
    this.young.delete(key);
    this.old.delete(key);
  }
}
