import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { lockedPackages } from '../../scripts/shipped-packages.mjs';
import { cycloneDx } from '../support/security/cyclone-dx';
import { runScript } from '../support/run-script';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly purl: string;
  readonly hashes?: readonly object[];
  readonly licenses?: readonly object[];
  readonly properties?: readonly { readonly name: string }[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** A scanner reads this file and compares it with new advisories. */
describe('npm run sbom', () => {
  // npm itself runs, which takes long on a busy machine.
  jest.setTimeout(180_000);
  let bill: Bill;

  beforeAll(async () => {
    const { code, output } = await runScript('scripts/sbom.mjs');
    expect([code, output.slice(0, 1)]).toEqual([0, '{']);
    bill = JSON.parse(output) as Bill;
  });

  it('is CycloneDX 1.5', () => {
    const ajv = new Ajv({ allErrors: true });
    addFormats(ajv);
    const validate = ajv.compile(cycloneDx);
    validate(bill);
    expect(validate.errors).toBeNull();
  });

  it('the schema of this test refuses what is not CycloneDX', () => {
    const ajv = new Ajv();
    addFormats(ajv);
    const validate = ajv.compile(cycloneDx);
    expect(validate({ ...bill, bomFormat: 'SPDX' })).toBe(false);
    expect(validate({ ...bill, components: [{ ...bill.components[0], type: 'package' }] })).toBe(false);
  });

  it('lists exactly the packages of the product', () => {
    const shipped = lockedPackages().flatMap((one) => (one.ships ? [`${one.name}@${one.version}`] : []));
    expect(bill.components.map((one) => one['bom-ref']).sort()).toEqual([...new Set(shipped)].sort());
    expect(shipped).toEqual(
      expect.arrayContaining([expect.stringMatching(/^react@/), expect.stringMatching(/^pino@/)]),
    );
  });

  it('each one has its version, its licence, and the hash of the lock file', () => {
    const withHash = new Set(lockedPackages().flatMap(({ name, hash }) => (hash === undefined ? [] : [name])));
    const wrong = bill.components.filter(
      ({ name, hashes = [], licenses = [], purl }) =>
        licenses.length !== 1 || !/^pkg:npm\/.+@\d/.test(purl) || hashes.length !== (withHash.has(name) ? 1 : 0),
    );
    expect(wrong.map((one) => one['bom-ref'])).toEqual([]);
  });

  it('none is marked as one of the development, and each dependency is listed', () => {
    const refs = new Set([bill.metadata.component['bom-ref'], ...bill.components.map((one) => one['bom-ref'])]);
    expect(refs.size).toBe(bill.components.length + 1);
    const named = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(named.filter((ref) => !refs.has(ref))).toEqual([]);
    const marks = bill.components.flatMap(({ properties = [] }) => properties.map(({ name }) => name));
    expect(marks).not.toContain('cdx:npm:package:development');
    expect(bill.metadata.component.name).toBe('portal-authentication-service');
  });

  it('that of a published package has what is installed with it, and nothing of the service', async () => {
    const { code, output } = await runScript('scripts/sbom.mjs', '--package', 'guard');
    expect(code).toBe(0);
    const { metadata, components, dependencies } = JSON.parse(output) as Bill;
    const ajv = new Ajv();
    addFormats(ajv);
    expect(ajv.validate(cycloneDx, JSON.parse(output))).toBe(true);
    expect(metadata.component.purl).toMatch(/^pkg:npm\/%40portal-auth\/guard@\d/);
    expect(components.map(({ name }) => name)).toEqual(['jose']);
    expect(dependencies).toContainEqual({ ref: metadata.component['bom-ref'], dependsOn: [components[0]!['bom-ref']] });
  });
});
