import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Packages whose code Vite puts into the pages. They are development dependencies, because the service does not load them. */
export const inThePages = ['@simplewebauthn/browser', 'altcha', 'react', 'react-dom', 'wouter'];

const readLock = (path) => JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'));

/** @returns every package of the lock file: its place, name, version, licence, and whether it is a part of the product */
export function lockedPackages(lock = readLock('../package-lock.json')) {
  const places = lock.packages;
  const pages = closure(places, inThePages);
  return Object.entries(places)
    .filter(([place, { link }]) => place !== '' && !link)
    .map(([place, entry]) => ({
      place,
      name: entry.name ?? nameOf(place),
      version: entry.version,
      licence: entry.license,
      hash: entry.integrity,
      hasInstallScript: entry.hasInstallScript === true,
      ships: entry.dev !== true || pages.has(place),
    }));
}

/** The packages of tools/, which are never a part of the product. */
export const lockedTools = () => lockedPackages(readLock('../tools/package-lock.json'));

/** The places of packages and of all that they need at run time. */
function closure(places, names) {
  const found = new Set();
  const visit = (from, name) => {
    const place = resolved(places, from, name);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies = {}, optionalDependencies = {} } = places[place];
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(place, next);
  };
  for (const name of names) visit('', name);
  return found;
}

/** Where Node finds a package: in the nearest node_modules above the one that asks. */
function resolved(places, from, name) {
  const parts = from.split('/node_modules/');
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const place = `${parts.slice(0, depth).join('/node_modules/')}/node_modules/${name}`;
    if (places[place] !== undefined) return place;
  }
  return places[`node_modules/${name}`] && `node_modules/${name}`;
}

const nameOf = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
