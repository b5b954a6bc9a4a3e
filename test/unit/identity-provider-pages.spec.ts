import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkedProviderFields, claimMembers, newProviderFields } from '../../src/admin/identity-provider-rules';
import { ProviderAddresses } from '../../src/identity-providers/provider-addresses';
import { loadConfig } from '../../src/settings/app-config';

const root = resolve(__dirname, '../..');
const folder = join(root, 'docs/identity-providers');
const pages = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
const products = pages.filter(([name]) => name !== 'README.md');
const contract = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as {
  paths: Record<string, object>;
  components: { schemas: Record<string, { properties: Record<string, object> }> };
};
const settable = Object.keys(contract.components.schemas.CreateIdentityProviderDto!.properties);

/** The rows of the table below a heading: the first two cells. */
const rowsBelow = (text: string, heading: string): [string, string][] => {
  const section = text.slice(text.indexOf(heading)).split('\n## ')[0]!;
  const rows = [...section.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)];
  return rows.map(([, name = '', value = '']) => [name, value]);
};
const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('the pages of identity providers', () => {
  it('there are four products', () => {
    expect(products.map(([name]) => name)).toEqual(['entra-id.md', 'google.md', 'keycloak.md', 'okta.md']);
  });

  it('the index explains every field that can be set, and no other', () => {
    const text = pages.find(([name]) => name === 'README.md')![1];
    expect(
      rowsBelow(text, '## <a id="fields">')
        .map(([name]) => name)
        .sort(),
    ).toEqual([...settable].sort());
  });

  it.each(pages)('%s names addresses that the service has', (_name, text) => {
    const urls = [...text.matchAll(/https:\/\/portal\.example\.com(\/[\w/{}-]+)/g)].map(([, path = '']) => path);
    expect(urls.length).toBeGreaterThan(0);
    const settings = { systemUrl: 'https://portal.example.com', production: true, dataDir: '' };
    const http = { ...loadConfig({ NODE_ENV: 'test' }).http, apiPrefix: '' };
    const own = Object.values(new ProviderAddresses(settings, http).of('{id}')).map((url) => new URL(url).pathname);
    for (const path of urls) {
      const general = decodeURI(path).replace(/^(\/login\/external\/)[^/]+/, '$1{id}');
      expect(own.map((one) => decodeURI(one))).toContain(general);
    }
  });

  it.each(products)('%s gives values that the service accepts, and the redirect URI of its id', (_name, text) => {
    const values = Object.fromEntries(rowsBelow(text, '## Here'));
    for (const field of Object.keys(values)) expect(settable).toContain(field);
    const [id] = codes(values.id!);
    expect(text).toContain(`https://portal.example.com/login/external/${id}/callback`);
    const claims = Object.fromEntries(
      [...values.claims!.matchAll(/`(\w+)`: (?:`(\w+)`|null)/g)].map(([, member, name]) => [member, name ?? null]),
    ) as Record<(typeof claimMembers)[number], string | null>;
    expect(Object.keys(claims)).toEqual([...claimMembers]);
    const given = newProviderFields({
      ...{ name: 'x', client_id: 'x', issuer: codes(values.issuer!)[0], scopes: codes(values.scopes!) },
      ...{ acr_values: codes(values.acr_values ?? ''), match_claim: codes(values.match_claim!)[0] },
      ...{ claims: { ...claims, login_name: claims.login_name! }, trust_mfa: values.trust_mfa!.startsWith('`true`') },
    });
    expect(() => checkedProviderFields(given, { production: true })).not.toThrow();
  });
});
