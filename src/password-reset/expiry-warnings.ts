import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { languageFor } from '../shared/languages';
import { usableAddress } from '../shared/mail-address';
import { Mailer } from '../mail/mailer';
import { PasswordSettings } from '../users/password-settings';
import { Database } from '../platform/database/database';
import {
  type ExpiringPassword,
  ExpiringPasswords,
  type PasswordSource,
  type Position,
} from '../users/expiring-passwords';
import { UsersRepository } from '../users/users.repository';
import { WarningClaims } from './persistence/expiry-warning.repository';

const sources: readonly PasswordSource[] = ['history', 'accounts'];
const batchRows = 1000;
const betweenBatchesMs = 20;
/** The mails of one run. More could delay other notices, which are sent by the same workers. */
const mailsPerRun = 50;
const runMs = 60_000;
/** Soon after the start: pods that are replaced often would otherwise never make a pass. */
const firstMs = 30_000;
const idleMs = 600_000;
const passSeconds = 3600;
const daySeconds = 86_400;

type Warnings = Awaited<ReturnType<WarningClaims['last']>>;

interface Pass {
  source: number;
  position: Position | undefined;
}

/**
 * Mails the owners of passwords that are about to expire (`PASSWORD_EXPIRY_WARN_DAYS`): one mail for each step and
 * password, over all replicas (ADR 0023). Each replica makes a pass over the passwords every hour, in short runs.
 */
@Injectable()
export class ExpiryWarnings implements OnModuleDestroy {
  private readonly logger = new Logger('password-expiry');
  private readonly steps: readonly number[];
  private pass: Pass | undefined;
  private nextPass = new Date(0);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | undefined;
  private stopping = false;

  constructor(
    private readonly passwords: ExpiringPasswords,
    private readonly claims: WarningClaims,
    private readonly users: UsersRepository,
    private readonly mailer: Mailer,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: PasswordSettings,
  ) {
    const { expireDays, expiryWarnDays } = settings;
    // A step of the whole life of a password would announce its expiry on the day on which it is set.
    this.steps = expiryWarnDays.filter((days) => days < expireDays);
  }

  /** Only the server calls it, not the command line. */
  startWarning(): void {
    if (this.steps.length > 0) this.schedule(firstMs);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /**
   * Continues the pass, or begins one if the last one began an hour ago.
   * @returns the number of mails that this run queued
   */
  async run(): Promise<number> {
    this.pass ??= this.begin();
    let queued = 0;
    while (this.pass !== undefined && queued < mailsPerRun && !this.stopping) {
      queued += await this.batch(this.pass, mailsPerRun - queued);
      if (this.pass.source === sources.length) this.pass = undefined;
      else await pause(betweenBatchesMs);
    }
    if (queued > 0) this.logger.log({ queued }, 'owners of expiring passwords get a mail');
    return queued;
  }

  private schedule(ms: number): void {
    this.timer = setTimeout(() => {
      this.running = this.run()
        .catch((error: unknown) => this.logger.error({ err: error }, 'password expiry warnings failed, trying again'))
        .finally(() => {
          if (!this.stopping) this.schedule(this.pass === undefined ? idleMs : runMs);
        });
    }, ms);
  }

  private begin(): Pass | undefined {
    const now = this.clock.now();
    if (this.steps.length === 0 || now < this.nextPass) return undefined;
    this.nextPass = this.clock.secondsFromNow(passSeconds);
    return { source: 0, position: undefined };
  }

  private async batch(pass: Pass, room: number): Promise<number> {
    // A password that was set before `oldest` has expired: its owner is asked for a new one at the login.
    const oldest = this.clock.secondsFromNow(-this.settings.expireDays * daySeconds);
    const from = pass.position ?? { at: oldest, id: sources[pass.source] === 'history' ? 0 : '' };
    const until = new Date(oldest.getTime() + this.steps[0]! * daySeconds * 1000);
    const batch = await this.passwords.after(sources[pass.source]!, from, until, batchRows);
    const warnings = await this.claims.last(batch.flatMap(({ owner }) => (owner === undefined ? [] : [owner.uid])));
    let queued = 0;
    for (const password of batch) {
      if (queued === room || this.stopping) return queued;
      if (await this.warn(password, warnings)) queued += 1;
      pass.position = password.position;
    }
    if (batch.length < batchRows) Object.assign(pass, { source: pass.source + 1, position: undefined });
    return queued;
  }

  /** Sends the nearest step only: the steps before it were missed, or an earlier mail announced them. */
  private async warn({ position, owner }: ExpiringPassword, warnings: Warnings): Promise<boolean> {
    const to = usableAddress(owner?.email ?? null);
    const expires = new Date(position.at.getTime() + this.settings.expireDays * daySeconds * 1000);
    const left = expires.getTime() - this.clock.now().getTime();
    const days = this.steps.findLast((step) => step * daySeconds * 1000 >= left);
    if (owner === undefined || to === null || days === undefined || left <= 0) return false;
    const passwordId = typeof position.id === 'number' ? position.id : 0;
    const { uid, loginName, credentialVersion } = owner;
    const warned = warnings.get(uid);
    if (warned?.passwordId === passwordId && warned.days <= days) return false;
    const language = languageFor(owner.language);
    const mail = { userId: uid, to, loginName, language, expires };
    return this.database.transaction(async (tx) => {
      // The owner may have changed the password since it was read, or an operator may have disabled the account.
      if ((await this.users.credentialVersion(tx, uid)) !== credentialVersion) return false;
      if (!(await this.claims.claim(tx, { userId: uid, passwordId, days }, warned))) return false;
      await this.mailer.queuePasswordExpires(tx, mail);
      return true;
    });
  }
}
