import { Injectable } from '@nestjs/common';
import { isHashable } from '../hashing/password-hasher';
import { brokenByCharacters, type PasswordRule, rulesInWords } from './password-policy';
import { PasswordPolicySource } from './password-policy-source';
import { BreachedPasswords } from './rules/breached-passwords';
import { CommonPasswords } from './rules/common-passwords';
import { containsOwnData, type PasswordOwner } from './rules/own-data';

export type { PasswordOwner } from './rules/own-data';

/** Judges a new password by the current policy. Whoever sets a password asks both methods, in this order. */
@Injectable()
export class PasswordChecks {
  constructor(
    private readonly policies: PasswordPolicySource,
    private readonly common: CommonPasswords,
    private readonly breached: BreachedPasswords,
  ) {}

  /** The rules that need no owner. Also refuses a password that bcrypt would truncate (docs/spec/attacks.md#w21). */
  async brokenRules(password: string): Promise<PasswordRule[]> {
    const policy = await this.policies.current();
    const broken = brokenByCharacters(password, policy);
    // The list is searched for short texts only: this method also judges the texts of anonymous callers.
    if (!isHashable(password)) return [...broken, 'max_bytes'];
    if (policy.forbid_common && (await this.common.includes(password))) broken.push('forbid_common');
    return broken;
  }

  /**
   * The rules that need a proven owner: an anonymous caller must learn nothing about an account, and must not make this
   * service send requests. Takes up to two seconds with `breach_check`, so call it before a transaction.
   */
  async brokenRulesOfOwner(password: string, owner: PasswordOwner): Promise<PasswordRule[]> {
    const policy = await this.policies.current();
    if (policy.forbid_own_data && containsOwnData(password, owner)) return ['forbid_own_data'];
    return policy.breach_check && (await this.breached.includes(password)) ? ['breach_check'] : [];
  }

  /** The broken rules of both methods in words for an operator. Empty when the password is allowed. */
  async problemsOf(password: string, owner: PasswordOwner): Promise<string> {
    const early = await this.brokenRules(password);
    const broken = early.length > 0 ? early : await this.brokenRulesOfOwner(password, owner);
    return rulesInWords(broken, await this.policies.current());
  }

  /** For the metrics: breach checks of this process that had no usable answer. */
  get failedBreachChecks(): number {
    return this.breached.failedChecks;
  }
}
