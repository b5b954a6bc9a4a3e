/** Jobs of many clients in fair turns: one job of each client per round, a client's own jobs in their order. */
export class FairQueue<Job> {
  // A Map keeps the order of insertion, so it is the ring of turns: the first client is next, a newcomer goes last.
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

  /** The job that `shift` would take. */
  peek(): Job | undefined {
    return this.lines.values().next().value?.[0];
  }

  /** Takes a job out of its line without giving up the client's turn; false when it is not there any more. */
  remove(client: string, job: Job): boolean {
    const line = this.lines.get(client) ?? [];
    const at = line.indexOf(job);
    if (at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(client);
    this.count -= 1;
    return true;
  }

  /** How many of the jobs that wait now would be served before one more job of this client. */
  ahead(client: string): number {
    const own = this.lines.get(client)?.length ?? 0;
    let ahead = own;
    let round = own + 1;
    for (const [other, line] of this.lines) {
      // Whoever stands behind this client in the ring has had one turn less when the new job's round comes.
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
