import {
  accessTtl,
  authorizationCodeTtl,
  done,
  grantTtl,
  type Of,
  offlineTtl,
  refused,
  Rules,
  sessionTtl,
  type Steps,
  success,
} from './rules';
import type { AppRecord, Grant } from './state';

/** The tokens of one application (docs/spec/extensions.md#j, docs/adr/0034-openid-provider.md). */
export abstract class Applications extends Rules {
  /** In a new browser: the request of the application, the consent on the pages, and the redirect back. */
  protected *signInAtApplication({ token, offline }: Of<'signInAtApplication'>): Steps {
    if (!this.state.application.enabled) return refused('refused');
    yield;
    const own = this.bearer(token);
    if (typeof own === 'string' || !this.isAdmitted(own.user)) return refused('refused');
    const { user, sid, epoch } = own;
    const known = this.grantOf(user, epoch);
    yield;
    const id = known?.id ?? this.name();
    this.keepGrant({ id, user, epoch, createdAt: known?.createdAt ?? this.now, expires: this.now + grantTtl });
    yield;
    if (!this.isLive(own) || !this.isAdmitted(user) || !this.grant(id)) return refused('refused');
    const until = this.now + authorizationCodeTtl;
    const code = this.addRecord('AuthorizationCode', { grant: id, user, sid, offline }, until);
    yield;
    if (this.isLive(own)) own.atApplication = true;
    return success({ value: code });
  }

  /** A code that is used twice ends its grant. */
  protected *exchange({ code }: Of<'exchange'>): Steps {
    if (!this.state.application.enabled) return refused('invalid_client');
    const record = this.record(code);
    yield;
    if (!this.counts(record)) return refused('invalid_grant');
    yield;
    if (!this.use(record)) return refused('invalid_grant');
    yield;
    if (!this.isAdmitted(record.user)) return refused('invalid_grant');
    return this.tokensOf(record);
  }

  /** Each refresh token is used once. A second use ends its grant. */
  protected *refreshOfApplication({ presented }: Of<'refreshOfApplication'>): Steps {
    if (!this.state.application.enabled) return refused('invalid_client');
    const record = this.record(presented);
    yield;
    if (record.kind !== 'RefreshToken' || !this.counts(record)) return refused('invalid_grant');
    if (!this.isAdmitted(record.user)) return refused('invalid_grant');
    yield;
    if (!this.use(record)) return refused('invalid_grant');
    yield;
    return this.tokensOf(record);
  }

  protected *userinfo({ presented }: Of<'userinfo'>): Steps {
    const record = this.record(presented);
    yield;
    const lives = record.kind === 'AccessToken' && this.counts(record) && this.isAdmitted(record.user);
    return lives ? success({ sub: this.user(record.user).uid }) : refused('invalid_token');
  }

  /** The application gives a token back: its grant ends. An unknown token is no error (RFC 7009, section 2.2). */
  protected *revocation({ presented }: Of<'revocation'>): Steps {
    if (!this.state.application.enabled) return refused('invalid_client');
    const record = this.record(presented);
    yield;
    if (this.counts(record)) this.removeGrant(record.grant);
    return success();
  }

  /** The user revokes the consent. */
  protected *endGrant({ token, id }: Of<'endGrant'>): Steps {
    const own = this.bearer(token);
    if (typeof own === 'string') return refused(own);
    const grant = this.grant(id);
    const isOwn = grant !== undefined && grant.user === own.user && grant.epoch === own.epoch;
    if (!isOwn || grant.expires <= this.now) return refused('USER_404001');
    yield;
    if (!this.grant(id)) return refused('USER_404001');
    this.removeGrant(id);
    return done;
  }

  /** An administrator disables the application, or enables it. What was issued counts while it is enabled. */
  protected *application({ enabled }: Of<'application'>): Steps {
    this.state.application.enabled = enabled;
    return success();
  }

  /**
   * A grant of a former credential version is dead for ever, and no row shows it. What no row and no answer has shown has no
   * value that a later request could name.
   */
  forgetDeadGrants(): void {
    const { grants, records } = this.state;
    this.state.grants = grants.filter(({ user, epoch }) => epoch === this.user(user).epoch);
    for (const record of records) if (!this.grant(record.grant)) record.grant = '';
  }

  protected endGrants(user: number): void {
    this.state.grants = this.state.grants.filter((grant) => grant.user !== user);
  }

  private tokensOf({ grant, user, sid, offline }: AppRecord) {
    const of = { grant, user, sid, offline };
    const access = this.addRecord('AccessToken', of, this.now + accessTtl);
    const refresh = this.addRecord('RefreshToken', of, this.now + (offline ? offlineTtl : sessionTtl));
    return success({ access_token: access, refresh_token: refresh });
  }

  private addRecord(
    kind: AppRecord['kind'],
    of: Pick<AppRecord, 'grant' | 'user' | 'sid' | 'offline'>,
    expires: number,
  ): string {
    const value = this.name();
    this.state.records.push({ kind, value, ...of, expires, used: false });
    return value;
  }

  /** The session lives, or the record does not depend on it; the grant is there; the user is the one of the consent. */
  private counts({ kind, grant, user, sid, offline, expires }: AppRecord): boolean {
    const given = this.grant(grant);
    const { epoch, status } = this.user(user);
    if (expires <= this.now || given === undefined || given.epoch !== epoch || status !== 1) return false;
    return (offline && kind !== 'AuthorizationCode') || this.isLive(this.session(sid));
  }

  /** @returns false at a second use, which ends the grant */
  private use(record: AppRecord): boolean {
    const isFirst = !record.used;
    if (!isFirst) this.removeGrant(record.grant);
    else if (this.grant(record.grant)) record.used = true;
    else return false;
    return isFirst;
  }

  private isAdmitted(user: number): boolean {
    const { enabled, members } = this.state.application;
    const { status, erased } = this.user(user);
    return enabled && members.includes(user) && status === 1 && !erased;
  }

  private grant(id: string): Grant | undefined {
    return this.state.grants.find((one) => one.id === id);
  }

  /** The newest grant of the user, as far as it counts. */
  private grantOf(user: number, epoch: number): Grant | undefined {
    const own = this.state.grants.filter((one) => one.user === user && one.epoch === epoch && one.expires > this.now);
    return own.sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1))[0];
  }

  private keepGrant(grant: Grant): void {
    this.removeGrant(grant.id);
    this.state.grants.push(grant);
  }

  private removeGrant(id: string): void {
    this.state.grants = this.state.grants.filter((one) => one.id !== id);
  }

  private record = (value: string): AppRecord => this.state.records.find((one) => one.value === value)!;
}
