// Loaded before the program (node --import). The search for expiring passwords begins at once, not after ten minutes.
const original = globalThis.setTimeout;
globalThis.setTimeout = Object.assign(
  (work, ms, ...given) => original(work, ms === 600_000 ? 50 : ms, ...given),
  original,
);
