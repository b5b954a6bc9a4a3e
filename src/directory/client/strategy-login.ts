import type { IncomingMessage } from 'node:http';
import type LdapStrategy from 'passport-ldapauth';
import { loadLdapLibrary } from './ldap-library';
import { subCodeOf } from './ldapjs-failure';

/** The entry as ldapauth-fork returns it. `_raw` has its values as bytes. */
export interface StrategyEntry {
  readonly dn?: unknown;
  readonly _raw: Readonly<Record<string, unknown>>;
}

/** The result that the strategy reported, and the stages that the login had reached by then. */
export interface StrategyReport {
  readonly outcome:
    | { readonly kind: 'success'; readonly entry: StrategyEntry }
    | { readonly kind: 'fail'; readonly token: string }
    | { readonly kind: 'error'; readonly error: unknown };
  /**
   * True if the server accepted the service account. If false, a refused bind was the bind of the service account.
   */
  readonly serviceBound: boolean;
  /** True if an entry was found and the bind as this entry was refused. */
  readonly userRefused: boolean;
  /** The sub-code of Active Directory in that refusal. The strategy reports 534 as 533. */
  readonly subCode?: string;
}

export type StrategyServer = Omit<LdapStrategy.Options['server'], 'log' | 'bindProperty' | 'starttls' | 'reconnect'>;

/** Replaces the messages of the strategy by tokens. The strategy recognises the sub-codes of Active Directory. */
const tokens: LdapStrategy.AuthenticateOptions = {
  invalidCredentials: 'invalid',
  userNotFound: 'invalid',
  noSuchObject: 'no such object',
  constraintViolation: '775',
  invalidLogonHours: '530',
  invalidWorkstation: '531',
  passwordExpired: '532',
  accountDisabled: '533',
  accountExpired: '701',
  passwordMustChange: '773',
  accountLockedOut: '775',
};

/**
 * Runs one login with passport-ldapauth, without Express: read the entry as the service account, bind as the entry. The
 * entry is already known, and the strategy gets a constant user name. Its messages therefore contain no text of a
 * request. The promise rejects only when the package cannot be loaded. It may stay pending when the network is silent,
 * so the caller needs a time-out.
 */
export async function loginByStrategy(server: StrategyServer, password: string): Promise<StrategyReport> {
  const { Strategy } = await loadLdapLibrary();
  const stages = new StageLog();
  return new Promise((resolve) => {
    const report = (outcome: StrategyReport['outcome']) =>
      resolve({
        outcome,
        serviceBound: stages.serviceBound,
        userRefused: stages.userRefused,
        subCode: stages.subCode,
      });
    try {
      const strategy = new Strategy(
        { server: { ...server, log: stages }, credentialsLookup: () => ({ username: 'user', password }) },
        (entry: StrategyEntry, done: (error: null, user: StrategyEntry) => void) => done(null, entry),
      );
      Object.assign(strategy, {
        success: (entry: StrategyEntry) => report({ kind: 'success', entry }),
        fail: (challenge: { message?: unknown } | undefined) =>
          report({ kind: 'fail', token: String(challenge?.message) }),
        error: (error: unknown) => report({ kind: 'error', error }),
      });
      strategy.authenticate({} as IncomingMessage, tokens);
    } catch (error) {
      report({ kind: 'error', error });
    }
  });
}

/**
 * A logger that records the stage of a login. ldapauth-fork reports a refused service account and a wrong
 * password with the same error, and issues 70, 87 and 114 of ldapauth-fork advise to read its log. The format strings
 * name the stages. The arguments contain DNs, and only the sub-code of a refusal is read.
 */
class StageLog {
  serviceBound = false;
  userRefused = false;
  subCode: string | undefined;

  trace(format: unknown, error?: { readonly message?: unknown }): void {
    if (format === 'ldap authenticate: bind ok') this.serviceBound = true;
    if (format !== 'ldap authenticate: bind error: %s' || !this.serviceBound) return;
    this.userRefused = true;
    this.subCode = subCodeOf(error?.message);
  }

  child(): this {
    return this;
  }

  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
  fatal(): void {}
}
