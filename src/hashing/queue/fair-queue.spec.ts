import { FairQueue } from './fair-queue';

function queueOf(...jobs: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const job of jobs) queue.push(job.slice(0, 1), job);
  return queue;
}

function served(queue: FairQueue<string>): string[] {
  const order: string[] = [];
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) order.push(job);
  return order;
}

describe('FairQueue', () => {
  it('peek returns the next job without removing it', () => {
    const queue = queueOf('a1', 'b1');
    expect([queue.peek(), queue.peek(), queue.size]).toEqual(['a1', 'a1', 2]);
    expect(served(queue)).toEqual(['a1', 'b1']);
    expect(queue.peek()).toBeUndefined();
  });

  it('serves one job of each client per round, and the jobs of one client in their order', () => {
    expect(served(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('serves a new client after one job of each waiting client, not after all their jobs', () => {
    const queue = queueOf('a1', 'a2', 'a3', 'a4');
    expect(queue.shift()).toBe('a1');
    queue.push('b', 'b1');
    expect(served(queue)).toEqual(['a2', 'b1', 'a3', 'a4']);
  });

  it('a client that removes its only job and adds another one is served last', () => {
    const queue = queueOf('a1', 'b1', 'c1');
    expect(queue.remove('a', 'a1')).toBe(true);
    queue.push('a', 'a2');
    expect(served(queue)).toEqual(['b1', 'c1', 'a2']);
  });

  it('remove returns true once for a waiting job, and false for a served job', () => {
    const queue = queueOf('a1', 'a2');
    expect(queue.shift()).toBe('a1');
    expect(queue.remove('a', 'a1')).toBe(false);
    expect(queue.remove('a', 'a2')).toBe(true);
    expect(queue.remove('a', 'a2')).toBe(false);
    expect(queue.size).toBe(0);
    expect(queue.shift()).toBeUndefined();
  });

  it.each([
    ['no client waits', [], 'a'],
    ['a new client', ['a1', 'a2', 'b1'], 'c'],
    ['the client with many jobs itself', ['a1', 'a2', 'b1', 'c1', 'c2', 'c3', 'c4'], 'a'],
    ['a client in the middle of the round', ['a1', 'a2', 'a3', 'b1', 'c1', 'c2', 'c3'], 'b'],
    ['the last client of the round', ['a1', 'b1', 'b2', 'b3', 'c1'], 'c'],
  ])('ahead returns the number of jobs before one more job: %s', (_case, jobs, client) => {
    const ahead = queueOf(...jobs).ahead(client);
    const order = served(queueOf(...jobs, `${client}9`));
    expect(ahead).toBe(order.indexOf(`${client}9`));
  });

  it('drain returns all waiting jobs and empties the queue', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    expect(queue.drain().sort()).toEqual(['a1', 'a2', 'b1']);
    expect(queue.size).toBe(0);
    expect(queue.shift()).toBeUndefined();
  });
});
