// What MariaDB did while something ran: rows and index entries that it read, its processor time, and its statements.
import { setTimeout as pause } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';

const fields = ['rows', 'databaseMs', 'statements'];

/** The server needs `userstat`, which counts its processor time. Nothing else may use the server meanwhile. */
export class Counters {
  static async open(url) {
    const counters = new Counters(await createConnection(url));
    const costs = [];
    // The least of two seconds: what else the server does at the moment only adds to it.
    for (let n = 0; n < 20; n++) {
      costs.push((await counters.spent(() => undefined)).spent);
      await pause(100);
    }
    counters.own = Object.fromEntries(fields.map((field) => [field, Math.min(...costs.map((one) => one[field]))]));
    return counters;
  }

  constructor(connection) {
    Object.assign(this, { connection, own: { rows: 0, databaseMs: 0, statements: 0 } });
  }

  /** Does the work, and returns its cost without the cost of reading the counters. */
  async spent(work) {
    const before = await this.state();
    const result = await work();
    const after = await this.state();
    const spent = fields.map((field) => [field, Math.max(0, after[field] - before[field] - this.own[field])]);
    return { result, spent: Object.fromEntries(spent) };
  }

  async state() {
    const [status] = await this.connection.query(
      `SHOW GLOBAL STATUS WHERE Variable_name IN ('Cpu_time', 'Questions', 'Handler_icp_attempts', 'Handler_icp_match')
         OR Variable_name LIKE 'Handler_read%'`,
    );
    const values = Object.fromEntries(status.map(({ Variable_name: name, Value: value }) => [name, Number(value)]));
    const read = Object.keys(values).filter((name) => name.startsWith('Handler_read'));
    return {
      // An index entry that the engine compares and skips is read as well, but `Handler_read…` does not count it.
      rows: read.reduce((sum, name) => sum + values[name], 0) + values.Handler_icp_attempts - values.Handler_icp_match,
      databaseMs: 1000 * values.Cpu_time,
      statements: values.Questions,
    };
  }

  close() {
    return this.connection.end();
  }
}
