import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import '../support/servers/slow-tests';
import { answer, hang, LogoutReceiver } from '../support/applications/logout-receiver';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';

const ends = 8;

/** docs/spec/extensions.md#j: at least once, also when the process that ended the session dies. */
describe('the logout tokens of the built program', () => {
  it('every replica is killed between the ends of sessions and their tokens: after a restart each application is told (T503)', async () => {
    const receiver = await LogoutReceiver.start();
    const replicas = await Replicas.start({ OIDC: 'on' });
    const applications = [randomUUID(), randomUUID()];
    for (const id of applications) {
      await replicas.rows(
        `INSERT INTO applications (id, name, type, redirect_uris, post_logout_redirect_uris, backchannel_logout_uri,
           scopes, audience, allowed_tenants, allowed_groups, created_at, changed_at)
         VALUES (?, ?, 'web', '[]', '[]', ?, '[]', '[]', '[]', '[]', NOW(3), NOW(3))`,
        [id, id, receiver.uri(`/${id}`)],
      );
    }
    // One of them never answers and the other one refuses, so no token is accepted before the kill.
    const [silent = '', broken = ''] = applications;
    receiver.behaviours[`/${silent}`] = hang;
    receiver.behaviours[`/${broken}`] = answer(503);
    const uid = await replicas.givenUser('leaver');
    const sids: string[] = [];
    for (let n = 0; n < ends; n++) {
      const access = (await replicas.login('leaver', undefined, n)).body.data.access_token as string;
      const sid = String(decodeJwt(access).sid);
      sids.push(sid);
      for (const id of applications) {
        await replicas.rows(
          `INSERT INTO application_sessions (sid, application_id, user_id, logout_id, began_at) VALUES (?, ?, ?, ?, NOW(3))`,
          [sid, id, uid, randomUUID()],
        );
      }
      const bearer = { authorization: `Bearer ${access}` };
      expect((await replicas.post('/logout', {}, n + 1, bearer)).status).toBe(200);
    }
    await eventually(() => new Set(receiver.seen.map(({ path }) => path)).size === 2, { what: 'both are asked' });
    await Promise.all(replicas.services.map((service) => service.kill()));
    expect(receiver.accepted).toEqual([]);
    const waiting = await replicas.rows('SELECT COUNT(*) AS n FROM application_logouts WHERE status = 0');
    expect(Number(waiting[0]!.n)).toBe(2 * ends);

    for (const id of applications) delete receiver.behaviours[`/${id}`];
    // The leases of the killed processes end by themselves, which takes half a minute.
    await replicas.rows('UPDATE application_logouts SET claimed_until = NOW(3), next_attempt_at = NOW(3)');
    receiver.seen.splice(0);
    const survivors = [await replicas.launch(), await replicas.launch()];
    const told = () => new Set(receiver.accepted.map(({ claims }) => `${String(claims.aud)} ${claims.sid}`));
    await eventually(() => told().size === 2 * ends, { what: 'every application is told of every end' });
    const expected = applications.flatMap((id) => sids.map((sid) => `${id} ${sid}`));
    expect([...told()].sort()).toEqual(expected.sort());
    await eventually(
      async () =>
        Number((await replicas.rows('SELECT COUNT(*) AS n FROM application_logouts WHERE status <> 1'))[0]!.n) === 0,
      { what: 'every row says so' },
    );
    await Promise.all(survivors.map((service) => service.stop()));
    await replicas.stop();
    await receiver.stop();
  });
});
