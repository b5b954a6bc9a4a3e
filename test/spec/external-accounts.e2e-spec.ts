import { ExternalIdentities } from '../../src/identity-providers/external-identities.repository';
import { ExternalSite } from '../support/external-sign-in';
import { givenIdentityProvider } from '../support/identity-providers';

/** Kinds of accounts that are not bound to the person who comes. */
const kinds = {
  local: {},
  'of the directory': { provider: 'ldap' as const, password: null },
  'of another provider': { provider: 'oidc' as const, password: null, identityProviderId: 'other', bound: 'other' },
  'of this provider, bound to another sub': {
    ...{ provider: 'oidc' as const, password: null, identityProviderId: 'acme', bound: 'acme' },
  },
  'of another provider, not bound': { provider: 'oidc' as const, password: null, identityProviderId: 'other' },
  'local and disabled': { status: -1 as const },
  'of this provider and disabled': {
    ...{ provider: 'oidc' as const, password: null, identityProviderId: 'acme', status: -1 as const },
  },
  'local of another tenant': { tenantId: 'elsewhere' },
  'of an administrator': { isAdmin: true },
  deleted: { deleted: true },
};
const equals = ['address', 'login name', 'external_id', 'all of them'] as const;

describe('the accounts that a person of a provider does not get (T540)', () => {
  let site: ExternalSite;
  beforeAll(async () => {
    const options = { jit: true, domains: ['acme.example'], matchClaim: 'employee' };
    site = await ExternalSite.start(options, { MFA_REQUIRED: 'false' });
    await givenIdentityProvider(site.service, { id: 'other', clientId: 'elsewhere' });
    await site.service.database.affected(`INSERT INTO tenants (id, name, created_at) VALUES ('elsewhere', 'E', ?)`, [
      site.service.clock.now(),
    ]);
  });
  afterAll(() => site?.stop());

  let n = 0;
  const cases = Object.keys(kinds).flatMap((kind) =>
    equals.flatMap((equal) => [true, false].map((verified) => [kind as keyof typeof kinds, equal, verified] as const)),
  );

  it.each(cases)('%s, with an equal %s, verified: %s', async (kind, equal, verified) => {
    const name = `user${++n}`;
    const { bound, deleted, ...more }: Record<string, unknown> = kinds[kind];
    const { service } = site;
    const user = await service.givenUser(name, {
      email: `${name}@acme.example`,
      externalId: `id-${name}`,
      ...more,
    });
    if (bound !== undefined) {
      const identities = service.app.get(ExternalIdentities, { strict: false });
      await identities.bind(service.database, bound as string, `sub-of-${name}`, user.uid);
    }
    if (deleted === true) {
      await service.database.affected('UPDATE users SET deleted_at = ? WHERE uid = ?', [service.clock.now(), user.uid]);
    }
    const what = 'provider, identity_provider_id, email, nickname, password, is_admin, status, tenant_id';
    const row = () => service.database.row(`SELECT ${what} FROM users WHERE uid = ?`, [user.uid]);
    const former = await row();
    const browser = site.browser();
    const has = (what: (typeof equals)[number]) => equal === what || equal === 'all of them';
    site.provider.signsIn({
      sub: `attacker-of-${name}`,
      claims: {
        preferred_username: has('login name') ? name : `attacker${n}`,
        email: has('address') ? `${name}@acme.example` : `attacker${n}@acme.example`,
        email_verified: verified,
        name: 'Mallory',
        employee: has('external_id') ? `id-${name}` : `attacker-${n}`,
      },
    });
    const led = await browser.come();
    // Either a new account of the own, or none. A disabled account of this provider is bound by its external id, and stays disabled.
    const binds = kind === 'of this provider and disabled' && has('external_id');
    const [identity] = await service.database.rows<{ user_id: string }>(
      'SELECT user_id FROM external_identities WHERE subject = ?',
      [`attacker-of-${name}`],
    );
    if (binds) expect(identity?.user_id).toBe(user.uid);
    else expect(identity?.user_id).not.toBe(user.uid);
    if (led.external === undefined) expect(led.error).toBe('LOGIN_404001');
    else if (binds) expect((await browser.redeem(led.external)).body.error_code).toBe('LOGIN_401011');
    else expect((await browser.redeem(led.external)).body.data.user_info.uid).not.toBe(user.uid);
    expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
    expect(await row()).toEqual(former);
  });

  it('T768 a person who names themselves like the address of somebody else gets no account, and the address goes on', async () => {
    const { service } = site;
    const { uid } = await service.givenUser('addressed', { email: 'addressed@example.com' });
    site.provider.signsIn({
      sub: 'namer',
      claims: { preferred_username: 'Addressed@example.com', email: 'namer@acme.example', email_verified: true },
    });
    expect((await site.browser().come()).error).toBe('LOGIN_404001');
    expect((await service.login('addressed@example.com')).body.data.user_info.uid).toBe(uid);
    const audit = `SELECT user_id FROM audit_logs WHERE event = 'USER_EXTERNAL_REFUSED' ORDER BY id DESC LIMIT 1`;
    expect(await service.database.row(audit)).toEqual({ user_id: uid });
  });
});
