/** The rules for a new password (docs/spec/decisions.md#password-policy). Lengths count Unicode code points. */
export interface PasswordPolicy {
  readonly min_length: number;
  readonly require_upper: boolean;
  readonly require_lower: boolean;
  readonly require_digit: boolean;
  readonly require_special: boolean;
  /** Refuses the passwords of a public list (CommonPasswords). */
  readonly forbid_common: boolean;
  /** Refuses a password that contains a name of its owner (containsOwnData). */
  readonly forbid_own_data: boolean;
  /** Refuses a password that the service at `PASSWORD_BREACH_URL` knows (BreachedPasswords). */
  readonly breach_check: boolean;
}

/** The rules that AUTH_400007 names. `max_bytes` is the limit of bcrypt, which no policy changes. */
export type PasswordRule = keyof PasswordPolicy | 'max_bytes';

/** The values of missing members, and the policy of a root tenant without a valid one. */
export const defaultPasswordPolicy: PasswordPolicy = {
  min_length: 12,
  require_upper: true,
  require_lower: true,
  require_digit: true,
  require_special: false,
  forbid_common: true,
  forbid_own_data: true,
  breach_check: false,
};

/** bcrypt limits passwords to 72 bytes, so a larger minimum would refuse every password. */
const longest = 72;

/** An invalid policy. The message names the problem in one line. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem';
}

/**
 * Parses the JSON of a policy.
 * @param missing the values of missing members
 * @throws PolicyProblem for every unknown member and wrong value: ignoring them could weaken the policy
 */
export function parsePasswordPolicy(text: string, missing = defaultPasswordPolicy): PasswordPolicy {
  const given = objectOf(text);
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaultPasswordPolicy, key)) {
      throw new PolicyProblem(`${JSON.stringify(key.slice(0, 32))} is not a member of a password policy`);
    }
    if (key !== 'min_length' && typeof value !== 'boolean') throw new PolicyProblem(`${key} must be true or false`);
  }
  const policy = { ...missing, ...given };
  if (!Number.isInteger(policy.min_length) || policy.min_length < 1 || policy.min_length > longest) {
    throw new PolicyProblem(`min_length must be a whole number from 1 to ${longest}`);
  }
  return policy;
}

/**
 * The rules about characters that the password breaks. Letters and digits are those of Unicode (general categories Lu,
 * Ll, Nd). A special character is punctuation, a symbol or a space (P, S, Z). Users can therefore meet a rule in any
 * script that has such characters (ADR 0009).
 */
export function brokenByCharacters(password: string, policy: PasswordPolicy): PasswordRule[] {
  const broken: PasswordRule[] = [];
  if ([...password].length < policy.min_length) broken.push('min_length');
  if (policy.require_upper && !/\p{Lu}/u.test(password)) broken.push('require_upper');
  if (policy.require_lower && !/\p{Ll}/u.test(password)) broken.push('require_lower');
  if (policy.require_digit && !/\p{Nd}/u.test(password)) broken.push('require_digit');
  if (policy.require_special && !/[\p{P}\p{S}\p{Z}]/u.test(password)) broken.push('require_special');
  return broken;
}

const needs: Partial<Record<PasswordRule, (policy: PasswordPolicy) => string>> = {
  min_length: (policy) => `at least ${policy.min_length} characters`,
  require_upper: () => 'an upper-case letter',
  require_lower: () => 'a lower-case letter',
  require_digit: () => 'a digit',
  require_special: () => 'a special character',
};
const faults: Partial<Record<PasswordRule, string>> = {
  max_bytes: 'it is too long',
  forbid_common: 'it is a common password',
  forbid_own_data: 'it contains a name of its owner',
  breach_check: 'it is known from a data breach',
};

/** For an operator: `it needs a digit, a special character` or, when no character is missing, `it is a common password`. */
export function rulesInWords(broken: readonly PasswordRule[], policy: PasswordPolicy): string {
  const missing = broken.flatMap((rule) => needs[rule]?.(policy) ?? []);
  if (missing.length > 0) return `it needs ${missing.join(', ')}`;
  return broken.flatMap((rule) => faults[rule] ?? []).join(', ');
}

function objectOf(text: string): Partial<PasswordPolicy> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PolicyProblem('a password policy must be valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PolicyProblem('a password policy must be a JSON object');
  }
  return value;
}
