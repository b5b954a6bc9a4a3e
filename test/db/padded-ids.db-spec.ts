import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DemoModule } from '../../src/demo/demo.module';
import { assertTenant } from '../../src/users/tenant.repository';
import { AccountProblem } from '../../src/users/user-accounts';
import { TestService } from '../support/app';
import { importUsers, userImport } from '../support/import-users';

/** `utf8mb4_bin` ignores spaces at the end: MariaDB finds `root` for `root `. No padded id may be stored or be in a token. */
describe('an id with spaces at its end is refused', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({}, { module: (config) => DemoModule.with(config) });
    await service.database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('fin', 'root', 'Finance')");
  });
  afterAll(() => service.stop());
  const imports = () => userImport(service.app);

  it.each([
    ['tenant', { tenantId: 'root ' }, 'there is no tenant "root "'],
    ['tenant of a unit', { tenantId: 'root  ', orgUnitId: 'fin' }, 'there is no tenant "root  "'],
    ['unit', { orgUnitId: 'fin ' }, 'there is no organisation unit "fin " in the tenant'],
  ])('a user is not created with a padded %s', async (_what, scope, problem) => {
    await expect(service.givenUser('padded', scope)).rejects.toEqual(new AccountProblem(problem));
    expect(await service.count('users', "login_name_key = 'padded'")).toBe(0);
  });

  it('a user is not imported with a padded id (T341)', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'padded-ids-'));
    const rows = [
      { login_name: 'one', tenant_id: 'root ' },
      { login_name: 'two', org_unit_id: 'fin ' },
      { login_name: 'three', tenant_id: 'root', org_unit_id: 'fin' },
    ];
    const file = join(directory, 'users.jsonl');
    await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    const report = await importUsers(imports(), file);
    expect(report).toMatchObject({ created: 1, failed: [{ row: 1 }, { row: 2 }] });
    await rm(directory, { recursive: true });
  });

  it('a setting is not stored for a padded tenant, which MariaDB would treat as the same row', async () => {
    await assertTenant(service.database, 'root');
    for (const id of ['root ', 'root   ', ' root', 'Root', '']) {
      await expect(assertTenant(service.database, id)).rejects.toThrow('there is no tenant');
    }
  });

  it('the statements of docs/operations/upgrade.md repair padded rows, and no others', async () => {
    if (__DATABASE__ !== 'mariadb') return;
    const { uid } = await service.givenUser('of-before', { orgUnitId: 'fin' });
    const { uid: other } = await service.givenUser('unharmed', { orgUnitId: 'fin' });
    await service.database.affected("UPDATE users SET tenant_id = 'root ', org_unit_id = 'fin  ' WHERE uid = ?", [uid]);
    const page = readFileSync(join(__dirname, '../../docs/operations/upgrade.md'), 'utf8');
    const statements = page.match(/^UPDATE users u JOIN .*(?=;$)/gm) ?? [];
    expect(statements).toHaveLength(2);
    for (const statement of statements) expect(await service.database.affected(statement, [])).toBe(1);
    for (const one of [uid, other]) {
      expect(await service.userRow(one)).toMatchObject({ tenant_id: 'root', org_unit_id: 'fin' });
    }
  });

  it('the answer and the token of a login contain the ids of the tenant and the unit as they are stored', async () => {
    await service.givenUser('scoped', { orgUnitId: 'fin' });
    const { body } = await service.login('scoped ');
    expect(body.data.user_info).toMatchObject({ login_name: 'scoped', tenant_id: 'root', org_unit_id: 'fin' });
    const token = String(body.data.access_token).split('.')[1] ?? '';
    expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toMatchObject({
      tenant_id: 'root',
      org_unit_id: 'fin',
    });
  });
});
