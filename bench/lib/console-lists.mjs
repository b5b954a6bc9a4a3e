// The lists and searches of the console, and what each costs the database: for bench/lists.mjs.
import { Counters } from './counters.mjs';
import { median } from './report.mjs';

/** Words of the names of many-users.mjs: frequent, rare, several, the beginning of many, and what nobody has. */
const queries = {
  '': 'no word',
  müller: 'a frequent family name',
  anna: 'a frequent first name',
  rare17: 'a rare name',
  'anna müller': 'two frequent names',
  'rare17 anna': 'a rare name and a frequent one',
  a: 'one letter',
  'a m': 'two letters',
  'a b c': 'three letters',
  'a.muller': 'a login name',
  nobody: 'a word that nobody has',
};
const statuses = ['', '1', '-1', '-2', '0'];
const tenants = ['', 'acme', 'small', 'missing'];
const locked = ['', 'true', 'false'];
const sorts = ['', 'login_name', '-login_name', 'created_at', '-created_at', 'last_login_at', '-last_login_at'];

/** Every search of users: [kind, path]. */
function* searches() {
  for (const [query, words] of Object.entries(queries)) {
    for (const status of statuses) {
      for (const tenant of tenants) {
        for (const lock of locked) {
          const kind = [
            words,
            ...(status === '' ? [] : ['status']),
            ...(tenant === '' ? [] : ['tenant']),
            ...(lock === '' ? [] : ['locked']),
          ];
          for (const sort of sorts) {
            const given = Object.entries({ query, status, tenant_id: tenant, locked: lock, sort });
            const path = `/admin/users?${new URLSearchParams([['limit', '50'], ...given.filter(([, value]) => value !== '')])}`;
            yield [`users: ${kind.join(', ')}`, path];
          }
        }
      }
    }
  }
}

/** @param {{ uid: string, loginName: string, requestId: string, group: string }} known rows to ask for */
function* others({ uid, loginName, requestId, group }) {
  const day = 86_400_000;
  const [now, time] = [Date.now(), (ms) => new Date(ms).toISOString()];
  for (const log of ['login-logs', 'audit-logs']) {
    const filters = [
      {},
      { user_id: uid },
      { user: loginName },
      { request_id: requestId },
      { ip: '10.1.2.3' },
      { ip: '10.0.0.1' },
      { from: time(now - day), to: time(now - day / 2) },
      ...(log === 'login-logs'
        ? [{ outcome: 'success' }, { outcome: 'LOGIN_401001' }, { outcome: 'failed' }, { user: 'typed17' }]
        : [{ event: 'USER_DISABLED' }, { actor_id: uid }]),
    ];
    const pairs = filters.flatMap((one, n) => filters.slice(n + 1).map((two) => ({ ...one, ...two })));
    for (const filter of [...filters, ...pairs]) {
      const names = Object.keys(filter).join(', ') || 'all';
      yield [`${log}: ${names}`, `/admin/${log}?${new URLSearchParams({ limit: '50', ...filter })}`];
    }
  }
  for (const part of ['', '/sessions', '/logins', '/logouts', '/devices', '/passkeys', '/offboarding']) {
    yield [`a user${part}`, `/admin/users/${uid}${part}`];
  }
  yield ['groups', '/admin/groups?limit=50'];
  yield ['groups: query', '/admin/groups?limit=50&query=group%2017'];
  yield ['groups: query, tenant', '/admin/groups?limit=50&query=group&tenant_id=acme'];
  yield ['a group', `/admin/groups/${group}`];
  yield ['members of a group', `/admin/groups/${group}/members?limit=50`];
  for (const list of ['tenants', 'org-units', 'applications', 'identity-providers', 'events', 'mails']) {
    yield [list, `/admin/${list}?limit=50`];
  }
  yield ['overview', '/admin/overview'];
}

export const listsOf = (known) => [...searches(), ...others(known)];

/** Asks for lists, one after the other, and reads the counters of MariaDB before and after each. */
export class Measured {
  static async open({ url, port, bearer }) {
    const measured = new Measured(await Counters.open(url), port, bearer);
    await measured.calibrate();
    return measured;
  }

  constructor(counters, port, bearer) {
    Object.assign(this, { counters, port, bearer, own: { databaseMs: 0, rows: 0 } });
  }

  /** Measures the check of the token, so that it is not counted as the cost of a list. */
  async calibrate() {
    await this.cost('/user/me');
    const costs = [];
    for (let n = 0; n < 20; n++) costs.push(await this.cost('/user/me'));
    this.own = { databaseMs: median(costs.map((one) => one.databaseMs)), rows: median(costs.map((one) => one.rows)) };
  }

  async cost(path) {
    const { result, spent } = await this.counters.spent(async () => {
      const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
        headers: { authorization: `Bearer ${this.bearer}` },
      });
      return { status: answer.status, data: (await answer.json()).data };
    });
    return {
      ...result,
      databaseMs: Math.max(0, spent.databaseMs - this.own.databaseMs),
      rows: Math.max(0, spent.rows - this.own.rows),
    };
  }

  close() {
    return this.counters.close();
  }
}
