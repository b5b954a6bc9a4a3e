/** The arithmetic of the mutation run: which mutants belong to a sample, and how sure its score is. */
import { createHash } from 'node:crypto';

/**
 * Orders by a hash of seed and key. A larger sample with the same seed contains the smaller one, and a change of one file
 * does not move the mutants of others.
 */
export function sampleOf(mutants, size, seed) {
  const rank = ({ key }) => createHash('sha256').update(`${seed} ${key}`).digest('hex');
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, size).map(({ mutant }) => mutant);
}

/** Of `a || b || c`, three mutants begin at the same place with the same replacement. Each one has a result of its own. */
export const resultKey = ({ key, end }) => `${key} ${end}`;

/** The 95 % interval of a share by Wilson. Unlike the usual formula it is right for small samples and near 100 %. */
export function wilson(hits, total) {
  if (total === 0) return { low: 0, high: 1 };
  const z = 1.959964;
  const share = hits / total;
  const centre = share + (z * z) / (2 * total);
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const scale = 1 + (z * z) / total;
  return { low: Math.max(0, (centre - spread) / scale), high: Math.min(1, (centre + spread) / scale) };
}
