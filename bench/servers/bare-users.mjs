// The least code that answers a page of users as SCIM shows them: one SELECT, and JSON.
import { createServer } from 'node:http';
import { createPool } from 'mysql2/promise';

const pool = createPool({ uri: process.env.DATABASE_URL, connectionLimit: 10, timezone: 'Z' });

async function page(startIndex, count) {
  const [users] = await pool.execute(
    `SELECT uid, login_name, external_id, nickname, status, email, created_at FROM users
     WHERE deleted_at IS NULL ORDER BY uid LIMIT ${count} OFFSET ${startIndex - 1}`,
  );
  const Resources = users.map((user) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id: user.uid,
    externalId: user.external_id,
    userName: user.login_name,
    displayName: user.nickname,
    active: user.status === 1,
    emails: [{ value: user.email, type: 'work', primary: true }],
    groups: [],
    meta: { resourceType: 'User', created: user.created_at.toISOString(), location: `/scim/v2/Users/${user.uid}` },
  }));
  return JSON.stringify({ startIndex, itemsPerPage: users.length, Resources });
}

createServer((request, response) => {
  const query = new URL(request.url, 'http://localhost').searchParams;
  if (request.url === '/health/ready') response.end('{}');
  else
    void page(Number(query.get('startIndex')), Number(query.get('count'))).then((body) => {
      response.setHeader('content-type', 'application/scim+json');
      response.end(body);
    });
}).listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
