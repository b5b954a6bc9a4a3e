import { ServiceError } from '@portal-auth/sdk';

/** The values of a list without empty lines. */
export const filled = (values: readonly string[]): string[] =>
  values.map((one) => one.trim()).filter((one) => one !== '');

/** An empty field of a form is null for the service. */
export const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** The values of `now` that differ from those of `before`. */
export function changedIn<T extends object>(before: T, now: T): Partial<T> {
  const former = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(former.get(name)),
  );
  return Object.fromEntries(changed) as Partial<T>;
}

/** What the service says about a field, or about one entry of a list: `redirect_uris` and `redirect_uris[2]`. */
export function problemsOf(error: unknown): (field: string, entry?: number) => string | undefined {
  const fields = error instanceof ServiceError ? error.fields : {};
  return (field, entry) => {
    const name = entry === undefined ? field : `${field}[${entry}]`;
    const [problem] = fields[name] ?? [];
    // The message begins with the name of the field, and stands beside the field.
    const text = problem?.startsWith(`${name} `) ? problem.slice(name.length + 1) : problem;
    return text === undefined ? undefined : text.charAt(0).toUpperCase() + text.slice(1);
  };
}
