/**
 * Milliseconds of processor time that this process spends, with all its threads, while `run` runs. Unlike elapsed
 * time, processor time hardly depends on other programs. The minimum of several runs excludes work that is done once.
 */
export async function leastProcessorMs(runs: number, run: (n: number) => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < runs; n++) {
    const before = process.cpuUsage();
    await run(n);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
