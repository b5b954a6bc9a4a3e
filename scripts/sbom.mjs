#!/usr/bin/env node
// npm run sbom [-- [--package FOLDER] [FILE]]
//
// Writes the software bill of materials of the product (CycloneDX 1.5, JSON) to FILE or to standard output. It lists what
// is installed to run the service, and what is in the pages. With --package it is that of a published package: what npm installs
// together with it. It reads package-lock.json alone and needs no network.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { knownLicences } from './known-licences.mjs';
import { manifestOf, readJson, root } from './packages.mjs';
import { lockedPackages } from './shipped-packages.mjs';

const { values, positionals } = parseArgs({ options: { package: { type: 'string' } }, allowPositionals: true });
const { name } = readJson(`${root}package.json`);
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

const whole = JSON.parse(stdout);
const bill =
  values.package === undefined ? ofTheProduct(whole) : ofPackage(whole, manifestOf({ folder: values.package }));
const text = `${JSON.stringify(bill, undefined, 2)}\n`;
const [target] = positionals;
if (target === undefined) process.stdout.write(text);
else writeFileSync(target, text);

/** npm lists the packages of the development as well, and takes the name of the folder for that of the service. */
function ofTheProduct(bom) {
  const shipped = lockedPackages().flatMap((one) => (one.ships ? [`${one.name}@${one.version}`] : []));
  return only(bom, { ...bom.metadata.component, name }, new Set(shipped));
}

/** The package, and all that its dependencies lead to. The versions are those of the lock file, with which it was tested. */
function ofPackage(bom, { name, version, description, license, dependencies = {} }) {
  const own = `${name}@${version}`;
  const led = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const direct = led.get(bom.metadata.component['bom-ref']).filter((ref) => nameOf(ref) in dependencies);
  const needed = new Set(direct);
  for (const ref of needed) for (const next of led.get(ref) ?? []) needed.add(next);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = [{ license: { name: license } }];
  const component = { 'bom-ref': own, type: 'library', name, version, description, purl, licenses };
  return only({ ...bom, dependencies: [...bom.dependencies, { ref: own, dependsOn: direct }] }, component, needed);
}

/** The bill of a component with the packages of a set, and of no other. */
function only(bom, component, refs) {
  const kept = new Set([component['bom-ref'], ...refs]);
  return {
    ...bom,
    metadata: { ...bom.metadata, component },
    components: bom.components.filter((one) => refs.has(one['bom-ref'])).map(complete),
    dependencies: bom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) })),
  };
}

function nameOf(ref) {
  return ref.slice(0, ref.lastIndexOf('@'));
}

/**
 * Names a package as the registry does and not after its folder, and adds the licence that its manifest does not name. A
 * package of the pages is not one of the development.
 */
function complete(component) {
  const name = nameOf(component['bom-ref']);
  const licence = knownLicences[name];
  const properties = component.properties?.filter(({ name }) => name !== 'cdx:npm:package:development');
  const named =
    component.licenses ?? (licence && [{ license: licence === 'UNLICENSED' ? { name: licence } : { id: licence } }]);
  return { ...component, name, properties, ...(named ? { licenses: named } : {}) };
}
