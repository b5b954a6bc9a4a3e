// Makes the load in a separate process. Plain sockets with keep-alive need the least processor time for the requests.
// Receives { port, seconds, lanes } from the bench and answers one summary per lane.
import { connect } from 'node:net';

process.on('message', async ({ id, port, seconds, lanes }) => {
  try {
    process.send({ id, result: await run(port, seconds, lanes) });
  } catch (error) {
    process.send({ id, error: error.stack });
  }
});
process.on('disconnect', () => process.exit(0));

async function run(port, seconds, lanes) {
  const begun = performance.now();
  const until = begun + seconds * 1000;
  return Promise.all(lanes.map((lane) => (lane.rate ? openLoop : closedLoop)(port, begun, until, lane)));
}

/** `concurrency` clients, each of which sends its next request when it has its answer. Waits for the last answers. */
async function closedLoop(port, begun, until, { requests, concurrency, honourRetryAfter }) {
  const book = new Book(begun);
  let next = 0;
  const client = async (index) => {
    const connection = await Connection.open(port);
    // The first request of a client is its own (it carries its token). After that the clients share one sequence.
    for (let mine = index; performance.now() < until; mine = concurrency + next++) {
      const sent = performance.now();
      const answer = await connection.ask(requests[mine % requests.length]);
      book.enter(answer, performance.now() - sent);
      if (honourRetryAfter && answer.status === 503) await new Promise((done) => setTimeout(done, 1000));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => client(index)));
  return book.summary();
}

/** Sends `rate` requests per second, whether the server keeps up or not. */
async function openLoop(port, begun, until, { requests, rate }) {
  const book = new Book(begun);
  const idle = [];
  const underWay = [];
  for (let i = 0; ; i++) {
    const due = begun + (i * 1000) / rate;
    if (due >= until) break;
    const early = due - performance.now();
    if (early > 0) await new Promise((done) => setTimeout(done, early));
    underWay.push(
      (async () => {
        const connection = idle.pop() ?? (await Connection.open(port));
        const sent = performance.now();
        book.enter(await connection.ask(requests[i % requests.length]), performance.now() - sent);
        idle.push(connection);
      })(),
    );
  }
  await Promise.all(underWay);
  idle.forEach((connection) => connection.close());
  return book.summary();
}

class Book {
  byStatus = new Map();
  last = 0;

  constructor(begun) {
    this.begun = begun;
  }

  enter({ status }, ms) {
    if (!this.byStatus.has(status)) this.byStatus.set(status, []);
    this.byStatus.get(status).push(ms);
    this.last = performance.now();
  }

  summary() {
    const seconds = (this.last - this.begun) / 1000;
    const all = Object.fromEntries([...this.byStatus].map(([status, times]) => [status, summaryOf(times)]));
    const ok = all[200] ?? summaryOf([]);
    const failed = Object.values(all).reduce((sum, { count }) => sum + count, 0) - ok.count;
    return { ...ok, seconds, rate: ok.count / seconds, failed, byStatus: all };
  }
}

function summaryOf(times) {
  const sorted = Float64Array.from(times).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** One keep-alive connection, for one request at a time. Reads answers with Content-Length and chunked answers. */
class Connection {
  static async open(port) {
    const connection = new Connection();
    connection.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => connection.socket.once('connect', resolve).once('error', reject));
    connection.socket.on('data', (data) => connection.take(data));
    const broken = (error) => connection.fail?.(error ?? new Error('the server closed the connection'));
    connection.socket.on('error', broken).on('close', () => broken());
    return connection;
  }

  pending = '';

  ask(request) {
    return new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
      this.socket.write(request);
    });
  }

  take(data) {
    this.pending += data.toString('latin1');
    const end = this.pending.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.pending.slice(0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const complete =
      length === undefined ? this.pending.endsWith('\r\n0\r\n\r\n') : this.pending.length >= end + 4 + Number(length);
    if (!complete) return;
    const answer = { status: Number(head.slice(9, 12)) };
    this.pending = '';
    this.settle(answer);
  }

  close() {
    this.fail = undefined;
    this.socket.destroy();
  }
}
