/** Round-robin queue: each round takes one job of each client. The jobs of one client keep their order. */
export class FairQueue<Job> {
  // A Map keeps the order of insertion: the first client is next, a new client is last.
  private readonly lines = new Map<string, Job[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(client: string, job: Job): void {
    const line = this.lines.get(client);
    if (line) line.push(job);
    else this.lines.set(client, [job]);
    this.count += 1;
  }

  shift(): Job | undefined {
    for (const [client, line] of this.lines) {
      const job = line.shift();
      this.lines.delete(client);
      if (line.length > 0) this.lines.set(client, line);
      this.count -= 1;
      return job;
    }
    return undefined;
  }

  /** Returns the job that `shift` would take. */
  peek(): Job | undefined {
    return this.lines.values().next().value?.[0];
  }

  /** Removes a waiting job; the client keeps its place in the round. Returns false when the job no longer waits. */
  remove(client: string, job: Job): boolean {
    const line = this.lines.get(client) ?? [];
    const at = line.indexOf(job);
    if (at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(client);
    this.count -= 1;
    return true;
  }

  /** Returns how many of the waiting jobs would be served before one more job of this client. */
  ahead(client: string): number {
    const own = this.lines.get(client)?.length ?? 0;
    let ahead = own;
    let round = own + 1;
    for (const [other, line] of this.lines) {
      // Clients that come after this one in the round have had one job fewer served when the new job is served.
      if (other === client) round = own;
      else ahead += Math.min(line.length, round);
    }
    return ahead;
  }

  drain(): Job[] {
    const jobs = [...this.lines.values()].flat();
    this.lines.clear();
    this.count = 0;
    return jobs;
  }
}
