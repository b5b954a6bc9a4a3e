import type { Connection, RowDataPacket } from 'mysql2';

const nodes = new WeakSet<Connection>();

/**
 * Asks whether the server of this connection is a node of a Galera cluster. Only `SHOW` may name a variable that MySQL does not have.
 * @throws the error of the driver
 */
export function noteGaleraNode(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[]>("SHOW SESSION VARIABLES LIKE 'wsrep_on'", (error, rows) => {
      if (error) return reject(error);
      if (rows[0]?.Value === 'ON') nodes.add(connection);
      resolve();
    });
  });
}

/**
 * A node rolls a transaction back when another node has committed a change of the same row first. If that happens while the
 * node prepares a statement, MariaDB 10.11 reports no error: the statements that follow commit one by one, and COMMIT
 * succeeds (ADR 0029). So nothing may be prepared inside of a transaction.
 */
export const mayPrepareInTransaction = (connection: Connection): boolean => !nodes.has(connection);
