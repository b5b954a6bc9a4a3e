#!/usr/bin/env node
// npm run sbom [-- FILE]
//
// Writes the software bill of materials of the product (CycloneDX 1.5, JSON) to FILE or to standard output. It lists what
// is installed to run the service, and what is in the pages. It reads package-lock.json alone and needs no network.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { knownLicences } from './known-licences.mjs';
import { lockedPackages } from './shipped-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
const { status, stdout, stderr, error } = spawnSync('npm', ['sbom', ...options], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
if (status !== 0) {
  process.stderr.write(error ? `npm: ${error.message}\n` : stderr);
  process.exit(1);
}

const text = `${JSON.stringify(ofTheProduct(JSON.parse(stdout)), undefined, 2)}\n`;
const [target] = process.argv.slice(2);
if (target === undefined) process.stdout.write(text);
else writeFileSync(target, text);

/** npm lists the packages of the development as well, and takes the name of the folder for that of the service. */
function ofTheProduct(bom) {
  const shipped = new Set(lockedPackages().flatMap((one) => (one.ships ? [`${one.name}@${one.version}`] : [])));
  const { component } = bom.metadata;
  const own = component['bom-ref'];
  const kept = new Set([own, ...bom.components.map((one) => one['bom-ref']).filter((ref) => shipped.has(ref))]);
  return {
    ...bom,
    metadata: { ...bom.metadata, component: { ...component, name } },
    components: bom.components.filter((one) => kept.has(one['bom-ref'])).map(complete),
    dependencies: bom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) })),
  };
}

/**
 * Names a package as the registry does and not after its folder, and adds the licence that its manifest does not name. A
 * package of the pages is not one of the development.
 */
function complete(component) {
  const ref = component['bom-ref'];
  const name = ref.slice(0, ref.lastIndexOf('@'));
  const licence = knownLicences[name];
  const properties = component.properties?.filter(({ name }) => name !== 'cdx:npm:package:development');
  const named =
    component.licenses ?? (licence && [{ license: licence === 'UNLICENSED' ? { name: licence } : { id: licence } }]);
  return { ...component, name, properties, ...(named ? { licenses: named } : {}) };
}
