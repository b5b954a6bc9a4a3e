import type { IncomingMessage } from 'node:http';
import type LdapStrategy from 'passport-ldapauth';
import { guardLdapjs } from '../protocol/ldapjs-guards';
import type { DirectoryEntry } from '../verdict';

/** What the strategy said, and how far it had come. */
export interface StrategyReport {
  readonly said:
    | { readonly kind: 'success'; readonly entry: DirectoryEntry }
    | { readonly kind: 'fail'; readonly token: string }
    | { readonly kind: 'error'; readonly error: unknown };
  /** The service account was accepted. Without this a refusal speaks of that account and not of the user. */
  readonly serviceBound: boolean;
  /** An entry was found, and binding as it was refused. */
  readonly userRefused: boolean;
}

export type StrategyServer = Omit<LdapStrategy.Options['server'], 'log' | 'bindProperty' | 'starttls' | 'reconnect'>;

/** The strategy's messages, made into tokens: its regular expression knows Active Directory's sub-codes. */
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

let loading: Promise<typeof LdapStrategy> | undefined;
/** With the first login of a directory: a service without one never needs it. */
const loadStrategy = () =>
  (loading ??= import('passport-ldapauth').then(({ default: strategy }) => {
    guardLdapjs();
    return strategy;
  }));

/**
 * One login by passport-ldapauth, outside Express: search as the service account, bind as the entry found. The search
 * filter is finished already; the user name given to the strategy stands for nothing, so that no text of a request gets
 * into its messages. Never rejects; may never answer either where the network is silent: the caller keeps the time.
 */
export async function loginByStrategy(server: StrategyServer, password: string): Promise<StrategyReport> {
  const Strategy = await loadStrategy();
  const stages = new StageLog();
  return new Promise((resolve) => {
    const answer = (said: StrategyReport['said']) =>
      resolve({ said, serviceBound: stages.serviceBound, userRefused: stages.userRefused });
    try {
      const strategy = new Strategy(
        { server: { ...server, log: stages }, credentialsLookup: () => ({ username: 'user', password }) },
        (entry: DirectoryEntry, done: (error: null, user: DirectoryEntry) => void) => done(null, entry),
      );
      Object.assign(strategy, {
        success: (entry: DirectoryEntry) => answer({ kind: 'success', entry }),
        fail: (challenge: { message?: unknown } | undefined) =>
          answer({ kind: 'fail', token: String(challenge?.message) }),
        error: (error: unknown) => answer({ kind: 'error', error }),
      });
      strategy.authenticate({} as IncomingMessage, tokens);
    } catch (error) {
      answer({ kind: 'error', error });
    }
  });
}

/**
 * ldapauth-fork answers a refused service account and a wrong password alike (its issues 70, 87, 114 say: look at the
 * log). So its log is looked at: the stages are told by its format strings; arguments, which hold DNs, are not read.
 */
class StageLog {
  serviceBound = false;
  userRefused = false;

  trace(format: unknown): void {
    if (format === 'ldap authenticate: bind ok') this.serviceBound = true;
    if (format === 'ldap authenticate: bind error: %s' && this.serviceBound) this.userRefused = true;
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
