// Rows that `purge` deletes, for bench/years.mjs: the same number in every step, in each table that grows with use.

/** Three batches of `purge`. */
export const oldRows = 3000;

const old = (days) => `UTC_TIMESTAMP(3) - INTERVAL ${days} DAY`;
const random = `SHA2(CONCAT('old', seq), 256)`;
const from = `FROM seq_1_to_${oldRows}`;

export const oldRowsOfTable = {
  login_tokens: `INSERT INTO login_tokens (jti, sid, token_type, user_identity, is_revoked, expires, credential_version, created_at)
    SELECT LEFT(${random}, 36), LEFT(SHA2(CONCAT('old', seq - seq MOD 10), 256), 36), IF(seq MOD 10 = 0, 'refresh', 'access'), 'nobody',
      0, ${old(1)}, 0, ${old(8)} ${from}`,
  captcha_receipts: `INSERT INTO captcha_receipts (token_hash, expires) SELECT ${random}, ${old(1)} ${from}`,
  cooldowns: `INSERT INTO cooldowns (subject, kind, until) SELECT ${random}, 'reset', ${old(2)} ${from}`,
  mail_outbox: `INSERT INTO mail_outbox (id, kind, status, attempts, next_attempt_at, expires, created_at)
    SELECT LEFT(${random}, 36), 'otp', 1, 1, ${old(31)}, ${old(31)}, ${old(31)} ${from}`,
  user_change_password_request: `INSERT INTO user_change_password_request (uid, token_hash, user_id, type, status, expired, created_at)
    SELECT LEFT(${random}, 36), ${random}, 'nobody', 2, 1, ${old(9)}, ${old(9)} ${from}`,
  known_browsers: `INSERT INTO known_browsers (user_id, browser, seen_at) SELECT LEFT(${random}, 36), ${random}, ${old(401)} ${from}`,
  login_logs: `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, request_id, created_at)
    SELECT 'nobody', 'nobody', 'password', '192.0.2.1', '', 'success', '', ${old(401)} ${from}`,
  audit_logs: `INSERT INTO audit_logs (event, user_id, ip, detail, created_at) SELECT 'X', 'nobody', '192.0.2.1', '{}', ${old(401)} ${from}`,
};
