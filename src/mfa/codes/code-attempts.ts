import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { emailCodeRejected, totpCodeRejected } from '../../shared/errors/error-catalogue';
import { AuditTrail } from '../../audit/audit-trail';
import { LoginJournal } from '../../audit/login-journal';
import { Database, type Transaction } from '../../platform/database/database';
import type { Reservation } from '../../users/attempts';
import { codeBlockSeconds, SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import type { CodeType } from './submitted-code';

export interface Guess {
  readonly user: User;
  readonly type: CodeType;
  readonly purpose: 'login' | 'enrolment' | 'replacement';
  readonly client: ClientInfo;
}

/** A guess that has used an attempt of its pending login or enrolment, and one of the account. It may be compared. */
export interface ReservedGuess extends Guess {
  readonly own: Reservation;
  readonly account: Reservation;
}

/** The one error for every reason to refuse a code. It must not reveal the reason (docs/spec/attacks.md#t066). */
export function codeRefused(type: CodeType): DomainError {
  return new DomainError(type === 'email' ? emailCodeRejected : totpCodeRejected);
}

/**
 * The limits of guessing (docs/spec/decisions.md#codes). An attempt is taken and committed before the code is compared.
 * Parallel guesses therefore get no more comparisons than sequential ones, and no failure gives an attempt back.
 */
@Injectable()
export class CodeAttempts {
  constructor(
    private readonly database: Database,
    private readonly secondFactor: SecondFactor,
    private readonly audit: AuditTrail,
    private readonly journal: LoginJournal,
  ) {}

  /**
   * @param own takes an attempt of the pending login or the enrolment. It runs before the account is charged, so that
   *   the account is charged only for codes that are compared.
   * @throws DomainError the refusal of this type, when one of the budgets is used up
   */
  async reserve(guess: Guess, own: () => Promise<Reservation>): Promise<ReservedGuess> {
    if (this.secondFactor.isBlocked(guess.user)) throw codeRefused(guess.type);
    const charged = await own();
    if (charged === 'refused') throw codeRefused(guess.type);
    const account = await this.secondFactor.reserveAttempt(guess.user.uid);
    if (account === 'refused') throw codeRefused(guess.type);
    return { ...guess, own: charged, account };
  }

  /**
   * @param accept applies a correct code, in one transaction. When it returns undefined, the transaction is rolled back
   *   and the code counts as wrong. Pass undefined when the code was wrong.
   * @throws DomainError the refusal of this type, when the code was wrong or not accepted. LOGIN_401013 for a right code,
   *   when the identity provider was disabled, or has told a sign-out, since the person signed in there
   */
  async settle<T>(guess: ReservedGuess, accept: ((tx: Transaction) => Promise<T | undefined>) | undefined): Promise<T> {
    const refusal = codeRefused(guess.type);
    if (accept !== undefined) {
      try {
        return await this.database.transaction(async (tx) => {
          const accepted = await accept(tx);
          if (accepted === undefined) throw refusal;
          return accepted;
        });
      } catch (error) {
        // A commit whose answer is lost may have signed the person in, so only a refusal is a failed login.
        const isRefusal = error instanceof DomainError && error.entry.status < 500;
        if (isRefusal && error !== refusal) await this.recordRefused(guess, error);
        if (error !== refusal) throw error;
      }
    }
    await this.recordRefused(guess, refusal, 'MFA_CODE_WRONG');
    throw refusal;
  }

  /** A right code that is refused has used its attempts as well, and may have used up a budget. */
  private async recordRefused(guess: ReservedGuess, { entry }: DomainError, reason?: 'MFA_CODE_WRONG'): Promise<void> {
    const { user, type, purpose, client, own, account } = guess;
    const { uid: userId, loginName, provider } = user;
    await this.database.transaction(async (tx) => {
      const record = (event: 'MFA_CODE_WRONG' | 'MFA_BUDGET_EXHAUSTED', detail: Record<string, string | number>) =>
        this.audit.record(tx, event, { userId, client, detail: { type, purpose, ...detail } });
      if (reason !== undefined) await record(reason, {});
      if (own === 'last') await record('MFA_BUDGET_EXHAUSTED', { budget: purpose });
      if (account === 'last') {
        await record('MFA_BUDGET_EXHAUSTED', { budget: 'account', blocked_seconds: codeBlockSeconds });
      }
    });
    if (purpose === 'replacement') return;
    await this.journal.failed({ userId, loginName, provider, mfa: type, outcome: entry.code }, client);
  }
}
