/**
 * Sessions that have not ended, in every version of the schema. Sessions that a changed password has ended count until they expire.
 * It reads the table `login_tokens`, so only a command may send it.
 */
export const liveSessionCount =
  "SELECT COUNT(DISTINCT sid) AS sessions FROM login_tokens WHERE token_type = 'refresh' AND is_revoked = 0 AND expires > ";
