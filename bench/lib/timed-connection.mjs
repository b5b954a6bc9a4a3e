import { connect } from 'node:net';

/** One connection that is kept open, as an attacker would: its time has the least noise. */
export class TimedConnection {
  static async open(port) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new TimedConnection(socket);
  }

  constructor(socket) {
    this.socket = socket;
    let received = '';
    socket.on('data', (bytes) => {
      // The first bytes of the answer stop the time.
      this.arrived ??= performance.now();
      received += bytes.toString('latin1');
      const [head, body] = received.split('\r\n\r\n', 2);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || body.length < length) return;
      received = '';
      this.done({ status: Number(head.split(' ', 2)[1]), body, ms: this.arrived - this.sent });
    });
    socket.on('close', () => {
      this.closed = new Error('the service closed the connection');
      this.fail?.(this.closed);
    });
  }

  /** @returns the time to the first byte, the body, and the status with the error code */
  async ask(bytes) {
    if (this.closed !== undefined) throw this.closed;
    const { status, body, ms } = await new Promise((resolve, reject) => {
      [this.done, this.fail, this.arrived, this.sent] = [resolve, reject, undefined, performance.now()];
      this.socket.write(bytes);
    });
    if (status >= 500) throw new Error(`the service answered ${status} ${body}`);
    return { ms, body, answer: `${status} ${/"error_code":"(\w+)"/.exec(body)?.[1] ?? ''}` };
  }

  close() {
    this.fail = undefined;
    this.socket.destroy();
  }
}
