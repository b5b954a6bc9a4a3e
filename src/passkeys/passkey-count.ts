/**
 * An SQL expression for the number of passkeys that a user has.
 * @param userId the column or placeholder of the user
 */
export const passkeyCount = (userId: string) => `(SELECT COUNT(*) FROM passkeys p WHERE p.user_id = ${userId})`;
