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
  it('shows whose turn it is without taking it', () => {
    const queue = queueOf('a1', 'b1');
    expect([queue.peek(), queue.peek(), queue.size]).toEqual(['a1', 'a1', 2]);
    expect(served(queue)).toEqual(['a1', 'b1']);
    expect(queue.peek()).toBeUndefined();
  });

  it('serves one job of each client per round and each client in its own order', () => {
    expect(served(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('gives a newcomer its turn after those who wait, not after all that one of them has asked for', () => {
    const queue = queueOf('a1', 'a2', 'a3', 'a4');
    expect(queue.shift()).toBe('a1');
    queue.push('b', 'b1');
    expect(served(queue)).toEqual(['a2', 'b1', 'a3', 'a4']);
  });

  it('lets nobody gain a turn by leaving the line and coming back', () => {
    const queue = queueOf('a1', 'b1', 'c1');
    expect(queue.remove('a', 'a1')).toBe(true);
    queue.push('a', 'a2');
    expect(served(queue)).toEqual(['b1', 'c1', 'a2']);
  });

  it('removes a waiting job once and knows that a served one has gone', () => {
    const queue = queueOf('a1', 'a2');
    expect(queue.shift()).toBe('a1');
    expect(queue.remove('a', 'a1')).toBe(false);
    expect(queue.remove('a', 'a2')).toBe(true);
    expect(queue.remove('a', 'a2')).toBe(false);
    expect(queue.size).toBe(0);
    expect(queue.shift()).toBeUndefined();
  });

  it.each([
    ['nobody waits', [], 'a'],
    ['a newcomer', ['a1', 'a2', 'b1'], 'c'],
    ['the greedy client itself', ['a1', 'a2', 'b1', 'c1', 'c2', 'c3', 'c4'], 'a'],
    ['a client in the middle of the ring', ['a1', 'a2', 'a3', 'b1', 'c1', 'c2', 'c3'], 'b'],
    ['the last in the ring', ['a1', 'b1', 'b2', 'b3', 'c1'], 'c'],
  ])('foretells the place of one more job: %s', (_case, jobs, client) => {
    const foretold = queueOf(...jobs).ahead(client);
    const order = served(queueOf(...jobs, `${client}9`));
    expect(foretold).toBe(order.indexOf(`${client}9`));
  });

  it('hands out what is left when it is drained', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    expect(queue.drain().sort()).toEqual(['a1', 'a2', 'b1']);
    expect(queue.size).toBe(0);
    expect(queue.shift()).toBeUndefined();
  });
});
