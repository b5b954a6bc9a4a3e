import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { usableAddress } from '../shared/mail-address';
import { LoginLogs } from '../audit/login-log.repository';
import { Mailer } from '../mail/mailer';
import { SignInSettings } from './session-settings';
import type { Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';
import { KnownBrowsers } from './persistence/known-browser.repository';

type Names = Pick<typeof import('bowser'), 'parse' | 'BROWSER_MAP' | 'OS_MAP'>;

/** The browsers that have no name share this one. */
const unknownBrowser = 'unknown';

/**
 * `NEW_SIGN_IN_NOTICE`: mails the owner when a login succeeds from a browser that is new for the account. Without the
 * setting it runs no statement (ADR 0023).
 */
@Injectable()
export class SignInNotices implements OnModuleInit {
  private nameOf: ((userAgent: string) => string) | undefined;

  constructor(
    private readonly browsers: KnownBrowsers,
    private readonly logins: LoginLogs,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
    private readonly settings: SignInSettings,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.settings.newSignInNotice) this.nameOf = await loadBrowserNames();
  }

  /** Call it in the transaction of the login, before its row in `login_logs`. */
  async notify(tx: Transaction, { uid, loginName, email }: User, client: ClientInfo): Promise<void> {
    const to = usableAddress(email);
    if (this.nameOf === undefined || to === null) return;
    const browser = this.nameOf(client.userAgent);
    if (!(await this.browsers.meet(tx, uid, browser))) return;
    const earlier = await this.logins.userAgentsOf(tx, uid);
    if (earlier.length === 0 || earlier.map(this.nameOf).includes(browser)) return;
    const { language, ip } = client;
    const name = browser === unknownBrowser ? undefined : browser;
    await this.mailer.queueNewSignIn(tx, {
      userId: uid,
      to,
      loginName,
      language,
      ip,
      at: this.clock.now(),
      browser: name,
    });
  }
}

/** Loads the package on demand: only services that name browsers need it. */
export async function loadBrowserNames(): Promise<(userAgent: string) => string> {
  const { default: names } = await import('bowser');
  return (userAgent) => browserName(names, userAgent);
}

/**
 * Returns a browser and its operating system without versions, for example `Firefox, Windows`. Only names that the
 * package knows are returned: no text of a client reaches a mail.
 */
function browserName({ parse, BROWSER_MAP, OS_MAP }: Names, userAgent: string): string {
  if (userAgent === '') return unknownBrowser;
  const { browser, os } = parse(userAgent);
  const isKnown = (names: Readonly<Record<string, string>>, name = '') => Object.values(names).includes(name);
  if (browser.name === undefined || !isKnown(BROWSER_MAP, browser.name)) return unknownBrowser;
  return isKnown(OS_MAP, os.name) ? `${browser.name}, ${os.name}` : browser.name;
}
