/** Settings with shorter names (HOST, PORT) are not compared, because other programs have names too similar to them. */
const minLength = 8;
/** The name of a setting of at least this length may have up to three wrong letters, a shorter one only one. */
const long = 12;

/**
 * `OTEL_` names are those of OpenTelemetry (`meantOpenTelemetryName`). Kubernetes sets the names with `_SERVICE_` and `_PORT_`.
 */
const foreignNames = /^OTEL_|_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** Kubernetes sets a variable such as `METRIC_PORT=tcp://10.0.0.7:9100` for each service of the namespace. */
export const isServiceLink = (value: string): boolean => /^(tcp|udp|sctp):\/\//.test(value);
const unit = /_(SECONDS?|SECS?|MINUTES?|HOURS?|DAYS?|MS|MILLIS)$/;

/**
 * Returns the setting that an unknown name probably means: one that differs in a few letters, its underscores, its case
 * or its unit. Returns undefined for a name of another program, because such a name must never stop the start.
 */
export function meantSetting(name: string, value: string, known: ReadonlySet<string>): string | undefined {
  if (foreignNames.test(name) || isServiceLink(value) || !/^[A-Za-z][\w-]{5,63}$/.test(name)) return undefined;
  const typed = name.toUpperCase().replaceAll('-', '_');
  const candidates = [...known].filter((one) => one.length >= minLength);
  return candidates.find((one) => misspelt(typed, one)) ?? candidates.find((one) => misspelt(typed, `${one}_FILE`));
}

/** Whether a name in upper case is another one with a few wrong letters, other underscores or another unit. */
export function misspelt(typed: string, known: string): boolean {
  if (typed.replaceAll('_', '') === known.replaceAll('_', '')) return true;
  if (typed.replace(unit, '') === known.replace(unit, '')) return true;
  const most = known.length >= long ? 3 : 1;
  // The start compares each variable with each setting. The lengths of most pairs differ by more than this.
  if (Math.abs(typed.length - known.length) > most) return false;
  const [words, own] = [typed.split('_'), known.split('_')];
  if (words.length !== own.length) return false;
  const distances = own.map((word, index) => distanceOfWords(words[index]!, word, index === 0));
  return distances.reduce((sum, distance) => sum + distance, 0) <= most;
}

/** Infinity for different words: METRICS_HOST is no misspelt METRICS_PORT, and APP_PREFIX no misspelt API_PREFIX. */
function distanceOfWords(typed: string, own: string, first: boolean): number {
  const distance = editDistance(typed, own);
  if (distance >= Math.max(typed.length, own.length) / 2 && distance > 0) return Infinity;
  const replaced = typed.length === own.length && sorted(typed) !== sorted(own);
  return first && own.length <= 3 && replaced ? Infinity : distance;
}

const sorted = (word: string): string => [...word].sort().join('');

/** The number of letters to insert, delete, replace or transpose (Damerau-Levenshtein, optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  const at = (i: number, j: number): number => rows[i]![j]!;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      rows[i]![j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped);
    }
  }
  return at(a.length, b.length);
}
