/**
 * The condition that a column names a user of this tenant, for a statement about another table (a log). A scalar subquery
 * is a look-up by key for each row. The optimizer would turn IN or EXISTS into a join that begins with all users of the
 * tenant.
 */
export const usersOfTenant = (tenantId: string) => (column: string) => ({
  text: `(SELECT u.tenant_id FROM users u WHERE u.uid = ${column}) = ?`,
  values: [tenantId],
});
