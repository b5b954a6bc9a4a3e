import { randomUUID } from 'node:crypto';
import { defaultPasswordPolicy } from '../../src/password-reset/password-policy';
import { TestService } from '../support/app';
import { codeOf, mailedToken, submit } from '../support/reset';

describe('the password policy', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());
  beforeEach(() => setPolicy(undefined));

  /**
   * Sets the policy by SQL, as an operator may, and moves the clock by 1 s, after which the service uses the policy.
   */
  async function setPolicy(value: string | undefined, tenant = 'root', group = 'CONFIG'): Promise<void> {
    await service.database.affected('DELETE FROM system_configs');
    if (value !== undefined) {
      await service.database.affected(
        'INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES (?, ?, ?, ?)',
        [tenant, group, 'PASSWORD_POLICY', value],
      );
    }
    service.clock.advanceSeconds(1);
  }

  let users = 0;
  const given = async () => {
    const name = `user${++users}`;
    await service.givenUser(name);
    return { name, token: await mailedToken(service, `${name}@example.com`) };
  };

  const inForce = async () => (await service.get('/password-policy')).body;
  const policyErrors = () => service.logLines.filter(({ msg }) => /PASSWORD_POLICY/.test(String(msg)));

  it('GET /password-policy answers with the policy in force, without authentication', async () => {
    expect(await inForce()).toEqual({
      status: true,
      data: {
        min_length: 12,
        require_upper: true,
        require_lower: true,
        require_digit: true,
        require_special: false,
        forbid_common: true,
        forbid_own_data: true,
        breach_check: false,
      },
    });
  });

  it('the setting of the root tenant makes the policy stricter or less strict within a second (T116)', async () => {
    const { token } = await given();
    await setPolicy('{"min_length":20,"require_special":true}');
    expect((await inForce()).data).toEqual({ ...defaultPasswordPolicy, min_length: 20, require_special: true });
    expect(codeOf(await submit(service, token, 'Correct-Horse-8'))).toBe('AUTH_400007');
    expect(codeOf(await submit(service, token, 'Correct0Horse0Battery0Staple'))).toBe('AUTH_400007');
    await setPolicy('{"min_length":4,"require_upper":false,"require_lower":false,"require_digit":false}');
    expect(codeOf(await submit(service, token, 'abc'))).toBe('AUTH_400007');
    expect(codeOf(await submit(service, token, 'abcd'))).toBe('success');
  });

  it('AUTH_400007 names all broken rules, by their names in GET /password-policy', async () => {
    const { token } = await given();
    const brokenBy = async (typed: string) => (await submit(service, token, typed)).body.data.rules as string[];
    expect(await brokenBy('')).toEqual(['min_length', 'require_upper', 'require_lower', 'require_digit']);
    expect(await brokenBy('letmein')).toEqual(['min_length', 'require_upper', 'require_digit', 'forbid_common']);
    expect(await brokenBy('Password-2026!')).toEqual(['forbid_common']);
    expect(await brokenBy(`Aa1${'x'.repeat(70)}`)).toEqual(['max_bytes']);
    await setPolicy('{"require_special":true}');
    expect(await brokenBy('Correct0Horse0Battery')).toEqual(['require_special']);
    const { data } = await inForce();
    for (const rule of [...(await brokenBy('')), 'forbid_common']) expect(data).toHaveProperty(rule);
  });

  it('a password that contains a name of its owner is refused, and a policy can allow it', async () => {
    const { name, token } = await given();
    const typed = `Horse-${name.toUpperCase()}-x7`;
    expect((await submit(service, token, typed)).body.data).toEqual({ rules: ['forbid_own_data'] });
    await setPolicy('{"forbid_own_data":false}');
    expect(codeOf(await submit(service, token, typed))).toBe('success');
  });

  it('the rules about the owner are judged after the link, so that nobody without a good link learns a name (T290)', async () => {
    const { name, token } = await given();
    const typed = `Horse-${name.toUpperCase()}-x7`;
    expect(codeOf(await submit(service, randomUUID(), typed))).toBe('AUTH_401003');
    expect(codeOf(await submit(service, token, 'Correct-Horse-8'))).toBe('success');
    expect(codeOf(await submit(service, token, typed))).toBe('AUTH_401007');
    // The other rules keep their place before the link.
    expect(codeOf(await submit(service, randomUUID(), 'Password-2026!'))).toBe('AUTH_400007');
  });

  it('a password on the list of common passwords is refused, unless the policy allows it', async () => {
    const { token } = await given();
    expect((await submit(service, token, 'Sunshine2026!')).body.data).toEqual({ rules: ['forbid_common'] });
    await setPolicy('{"forbid_common":false}');
    expect(codeOf(await submit(service, token, 'Sunshine2026!'))).toBe('success');
  });

  it('no policy accepts a password that bcrypt would truncate', async () => {
    const { token } = await given();
    await setPolicy('{"min_length":1,"require_upper":false,"require_lower":false,"require_digit":false}');
    for (const typed of ['', 'x'.repeat(73), 'abc\0']) {
      expect(codeOf(await submit(service, token, typed))).toBe('AUTH_400007');
    }
  });

  it.each(['{"min_length":', 'nonsense', '[]', '{"min_length":0}', '{"min_length":"1"}', '{"min_lenght":1}', ''])(
    'an invalid policy (%s) is logged as an error, and the default policy applies (T116)',
    async (text) => {
      const { token } = await given();
      // The service logs an invalid policy at most once a minute.
      service.clock.advanceSeconds(60);
      await setPolicy(text);
      const before = policyErrors().length;
      expect((await inForce()).data).toEqual(defaultPasswordPolicy);
      expect(codeOf(await submit(service, token, 'short'))).toBe('AUTH_400007');
      expect(codeOf(await submit(service, token, 'Correct-Horse-8'))).toBe('success');
      expect(policyErrors().slice(before)).toEqual([
        expect.objectContaining({ level: 50, problem: expect.any(String) }),
      ]);
    },
  );

  it('an invalid policy is logged once a minute, not with each request', async () => {
    service.clock.advanceSeconds(60);
    await setPolicy('nonsense');
    const before = policyErrors().length;
    for (let i = 0; i < 5; i++) await inForce();
    expect(policyErrors().length - before).toBe(1);
    service.clock.advanceSeconds(60);
    await inForce();
    expect(policyErrors().length - before).toBe(2);
  });

  it('settings of other tenants and other groups do not change the policy', async () => {
    const loose = '{"min_length":1,"require_upper":false,"require_lower":false,"require_digit":false}';
    await setPolicy(loose, 'other');
    expect((await inForce()).data).toEqual(defaultPasswordPolicy);
    await setPolicy(loose, 'root', 'SMTP');
    expect((await inForce()).data).toEqual(defaultPasswordPolicy);
  });

  it('while the policy cannot be read, no password is accepted', async () => {
    const { token } = await given();
    service.clock.advanceSeconds(1);
    await service.database.affected('ALTER TABLE system_configs RENAME TO away');
    const answers = [await service.get('/password-policy'), await submit(service, token, 'Correct-Horse-8')];
    await service.database.affected('ALTER TABLE away RENAME TO system_configs');
    for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(500);
    expect(codeOf(await submit(service, token, 'Correct-Horse-8'))).toBe('success');
  });
});
