/** The rules for a new password (docs/spec/decisions.md#password-policy). Lengths count Unicode code points. */
export interface PasswordPolicy {
  readonly min_length: number;
  readonly require_upper: boolean;
  readonly require_lower: boolean;
  readonly require_digit: boolean;
  readonly require_special: boolean;
}

/** Applies when the root tenant has no valid policy. */
export const defaultPasswordPolicy: PasswordPolicy = {
  min_length: 12,
  require_upper: true,
  require_lower: true,
  require_digit: true,
  require_special: false,
};

/** bcrypt limits passwords to 72 bytes, so a larger minimum would refuse every password. */
const longest = 72;

/** An invalid policy. The message names the problem in one line. */
export class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem';
}

/**
 * Parses the JSON of a policy. A missing member has its default value.
 * @throws PolicyProblem for every unknown member and wrong value: ignoring them could weaken the policy
 */
export function parsePasswordPolicy(text: string): PasswordPolicy {
  const given = objectOf(text);
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaultPasswordPolicy, key)) {
      throw new PolicyProblem(`${JSON.stringify(key.slice(0, 32))} is not a member of a password policy`);
    }
    if (key !== 'min_length' && typeof value !== 'boolean') throw new PolicyProblem(`${key} must be true or false`);
  }
  const policy = { ...defaultPasswordPolicy, ...given };
  if (!Number.isInteger(policy.min_length) || policy.min_length < 1 || policy.min_length > longest) {
    throw new PolicyProblem(`min_length must be a whole number from 1 to ${longest}`);
  }
  return policy;
}

/**
 * Letters and digits are those of Unicode (general categories Lu, Ll, Nd). A special character is punctuation, a symbol
 * or a space (P, S, Z). Users can therefore meet a rule in any script that has such characters (ADR 0009).
 */
export function meetsPolicy(password: string, policy: PasswordPolicy): boolean {
  return missingFor(password, policy).length === 0;
}

/** The rules that the password breaks, in words for a person. Empty when the password meets the policy. */
export function missingFor(password: string, policy: PasswordPolicy): string[] {
  const missing: string[] = [];
  if ([...password].length < policy.min_length) missing.push(`at least ${policy.min_length} characters`);
  if (policy.require_upper && !/\p{Lu}/u.test(password)) missing.push('an upper-case letter');
  if (policy.require_lower && !/\p{Ll}/u.test(password)) missing.push('a lower-case letter');
  if (policy.require_digit && !/\p{Nd}/u.test(password)) missing.push('a digit');
  if (policy.require_special && !/[\p{P}\p{S}\p{Z}]/u.test(password)) missing.push('a special character');
  return missing;
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
