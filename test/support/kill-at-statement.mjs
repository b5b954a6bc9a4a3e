import Database from 'better-sqlite3';

// Loaded before the program (node --import). Sends SIGKILL to the program before it prepares the given write on SQLite.
const limit = Number(process.env.KILL_AT_STATEMENT);
const prepare = Database.prototype.prepare;
let count = 0;

Database.prototype.prepare = function (sql, ...rest) {
  if (/^\s*(BEGIN|CREATE|INSERT|COMMIT)/i.test(sql) && ++count === limit) process.kill(process.pid, 'SIGKILL');
  return prepare.call(this, sql, ...rest);
};
