import { Provisioning } from './provisioning';
import { externalCodeTtl, inviteTtl, type Of, refused, type Steps, success } from './rules';
import type { Origin, User } from './state';

/** The users of one identity provider (docs/spec/extensions.md#k). It makes users of persons whom nobody knows here. */
export abstract class Providers extends Provisioning {
  /** From the button to the code: the request, the answer of the provider, and the redirect back. */
  protected *signInAtProvider({ person, age }: Of<'signInAtProvider'>): Steps {
    if (!this.signsIn()) return refused('COMMON_404001');
    yield;
    if (!this.signsIn()) return refused('LOGIN_401013');
    yield;
    const user = this.boundTo(person) ?? (yield* this.bindOrMake(person));
    if (typeof user === 'string') return refused(user);
    yield;
    const value = this.name();
    const origin = { person, answeredAt: this.now, askedAt: this.now - age };
    this.state.externalCodes.push({ value, user, origin, expires: this.now + externalCodeTtl, used: false });
    return success({ value });
  }

  /** The code works once. The rules of a login follow, without the lock, which protects a password. */
  protected *redeem({ code: value, device }: Of<'redeem'>): Steps {
    const find = () => this.state.externalCodes.find((one) => one.value === value && !one.used);
    if ((find()?.expires ?? 0) <= this.now) return refused('LOGIN_401013');
    yield;
    const code = find();
    if (code === undefined) return refused('LOGIN_401013');
    code.used = true;
    yield;
    const { user, origin } = code;
    const u = this.user(user);
    if (!this.signsIn() || !isOfProvider(u)) {
      yield;
      return this.failedLogin(user, 'LOGIN_401013');
    }
    yield;
    const problem = this.statusProblem(u) ?? (isOfProvider(u) ? null : 'LOGIN_401001');
    if (problem !== null) return this.failedLogin(user, problem);
    u.failed = 0;
    u.successAt = this.now;
    const read = structuredClone(u);
    yield;
    return yield* this.enter(user, read, device, origin);
  }

  /** The session of a login, or its second factor. */
  protected abstract enter(user: number, read: User, device: string | undefined, origin: Origin): Steps;

  /** An administrator links a user to the provider, or ends this. Whatever has led into the account ends. */
  protected *move({ user, to }: Of<'move'>): Steps {
    const u = this.user(user);
    if (u.erased) return refused('USER_404001');
    yield;
    if (to === 'oidc' && !this.state.provider.exists) return refused('COMMON_400001');
    if (u.erased) return refused('USER_404001');
    if (to === 'password' && u.provider === 'password') return refused('COMMON_400001');
    this.endEverything(user);
    for (const link of this.state.links) if (link.user === user) link.used = true;
    this.unbind(user);
    Object.assign(u, { provider: to, passwords: [], temporary: false, failed: 0, failedAt: null });
    if (to === 'oidc') u.person = user;
    this.mail(user, 'account-changed');
    if (to === 'password' && u.status !== -1 && u.email !== null) this.mailLink(user, 0, inviteTtl);
    yield;
    // The answer shows the user as another administrator has left it by then.
    if (u.erased) return refused('USER_404001');
    const identity_provider = u.provider === 'oidc' ? this.state.provider.id : null;
    return success({ uid: u.uid, email: u.email, status: u.status, provider: u.provider, identity_provider });
  }

  /** A disabled provider signs nobody in, and sessions go on. One that has users is not deleted. */
  protected *provider({ action }: Of<'provider'>): Steps {
    const { provider, users } = this.state;
    if (!provider.exists) return refused('USER_404001');
    yield;
    if (!provider.exists) return refused('USER_404001');
    if (action !== 'delete') provider.enabled = action === 'enable';
    else if (users.some(isOfProvider)) return refused('APP_400001');
    else provider.exists = false;
    return success();
  }

  /** The provider tells that the person has signed out there. */
  protected *logoutAtProvider({ person }: Of<'logoutAtProvider'>): Steps {
    if (!this.state.provider.exists) return refused('invalid_request');
    yield;
    const binding = this.state.bindings.find((one) => one.person === person);
    if (binding === undefined) return success();
    binding.signedOutAt = this.now;
    const { pending } = this.user(binding.user);
    if (pending) pending.closed = true;
    this.endSessions(binding.user);
    return success();
  }

  /** An answer that is not younger than the sign-out at the provider opens no session. */
  protected isVouched(user: number, { person, answeredAt }: Origin): boolean {
    const binding = this.state.bindings.find((one) => one.person === person && one.user === user);
    return this.signsIn() && binding !== undefined && (binding.signedOutAt ?? -1) < answeredAt;
  }

  /** The user takes over the address of the person, and a mail goes to both. A change by an administrator meanwhile stays. */
  protected follow(user: number, { email: read }: User, { person }: Origin): void {
    const u = this.user(user);
    const email = `${this.nameOf(person)}@example.com`;
    if (read === email || u.email !== read) return;
    this.mail(user, 'account-changed');
    u.email = email;
    this.mail(user, 'account-changed');
  }

  /** A user whom an administrator has linked, or a new one. An account of somebody else is never taken over. */
  private *bindOrMake(person: number): Generator<void, number | string> {
    const { users, bindings, provider } = this.state;
    const isMeant = (one: User) => isOfProvider(one) && one.person === person;
    const meant = users.findIndex(isMeant);
    yield;
    const bound = this.boundTo(person);
    if (bound !== undefined) return bound;
    if (meant >= 0 && !isMeant(users[meant]!)) return this.notTakenOver(meant);
    if (meant < 0 && !provider.exists) return 'LOGIN_401013';
    const name = this.nameOf(person);
    const owner = users.findIndex((one) => one.name === name && !one.erased);
    if (meant < 0 && owner >= 0) return this.notTakenOver(owner);
    const user = meant < 0 ? this.make(name, { provider: 'oidc', person }) : meant;
    bindings.push({ person, user, signedOutAt: null });
    return user;
  }

  /** The log names the account (docs/spec/decisions.md#login-logs). */
  private notTakenOver(user: number): string {
    this.log(user, 'LOGIN_404001', null);
    return 'LOGIN_404001';
  }

  private boundTo(person: number): number | undefined {
    return this.state.bindings.find((one) => one.person === person)?.user;
  }

  private signsIn(): boolean {
    const { exists, enabled } = this.state.provider;
    return exists && enabled;
  }

  private nameOf(person: number): string {
    return this.user(0).name.replace('m0', `m${person}`);
  }
}

const isOfProvider = ({ provider, erased }: User): boolean => provider === 'oidc' && !erased;
