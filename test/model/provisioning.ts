import { Applications } from './applications';
import { inviteTtl, type Of, refused, type Steps, success } from './rules';
import type { ExternalCode, User } from './state';

/** What a client of SCIM does with users and one group (docs/spec/extensions.md#l, docs/adr/0038-scim.md). */
export abstract class Provisioning extends Applications {
  /** The user gets an invitation by mail. */
  protected *scimCreate({ name }: Of<'scimCreate'>): Steps {
    const { users } = this.state;
    const isTaken = () => users.some((one) => one.name === name && !one.erased);
    if (isTaken()) return refused('SCIM 409');
    yield;
    if (isTaken()) return refused('SCIM 409');
    const user = this.make(name, { provider: 'password', person: null });
    this.mailLink(user, 0, inviteTtl);
    return success({ id: this.user(user).uid, active: true });
  }

  protected make(name: string, place: Pick<User, 'provider' | 'person'>): number {
    const uid = this.name();
    const count = this.state.users.push({
      ...{ name, uid, email: `${name}@example.com`, status: 1, admin: false, erased: false, epoch: 0, ...place },
      ...{ temporary: false, failed: 0, failedAt: null, successAt: null, passwords: [] },
      ...{ createdAt: this.now, enabledAt: null },
      ...{ mfaType: 'email', secret: null, lastStep: 0, wrongCodes: 0, blockedUntil: null, recovery: [] },
      ...{ otpUntil: 0, resetUntil: 0, pending: null, enrolment: null },
    });
    return count - 1;
  }

  /** A client of SCIM changes no administrator of the root tenant. */
  protected *scim({ user, action }: Of<'scim'>): Steps {
    const u = this.user(user);
    if (u.erased) return refused('SCIM 404');
    yield;
    if (u.erased) return refused('SCIM 404');
    if (u.admin) return refused('SCIM 403');
    if (action === 'delete') return yield* this.remove(user);
    const active = action === 'enable';
    const isChange = active !== (u.status === 1);
    if (isChange && active) this.enable(user);
    // Also somebody whom an administrator has only disabled.
    if (!active) this.leave(user);
    yield;
    if (u.erased) return refused('SCIM 404');
    const answer = success({ active: u.status === 1 });
    const needsPassword = u.provider === 'password' && u.passwords.length === 0;
    if (!isChange || u.status !== 1 || !needsPassword || u.email === null) return answer;
    // A disabled user cannot be invited, so the invitation comes with the enabling.
    if (active) this.mailLink(user, 0, inviteTtl);
    return answer;
  }

  /** The person leaves, and is then erased. */
  private *remove(user: number): Steps {
    const u = this.user(user);
    this.leave(user);
    yield;
    if (u.erased) return refused('SCIM 404');
    if (u.admin) return refused('SCIM 403');
    this.erase(user);
    return success();
  }

  private enable(user: number): void {
    Object.assign(this.user(user), { status: 1, enabledAt: this.now });
    this.endEverything(user);
    this.restore(user);
    this.mail(user, 'account-changed');
  }

  /** What was issued and what works once ends (docs/adr/0039-leaving.md). */
  private leave(user: number): void {
    const u = this.user(user);
    const hasLeft = this.state.offboardings.some((one) => one.user === user && !one.restored);
    if (hasLeft && u.status !== 1) return;
    if (u.status === 1) this.mail(user, 'account-changed');
    u.status = -1;
    this.endEverything(user);
    this.endGrants(user);
    u.recovery = [];
    if (u.enrolment?.confirmed === false) Object.assign(u.enrolment, { sid: null, until: 0 });
    this.endExternalCodes(user);
    for (const link of this.state.links) if (link.user === user) link.used = true;
    this.state.offboardings.push({ user, restored: false });
  }

  /** Sign-ins at the identity provider whose code nobody has redeemed. The binding stays, as a password does. */
  private endExternalCodes(user: number): void {
    const isOpen = (one: ExternalCode) => !one.used && one.expires > this.now;
    this.state.externalCodes = this.state.externalCodes.filter((one) => one.user !== user || !isOpen(one));
  }

  /** Whoever comes back has `restored` set in the record. */
  protected restore(user: number): void {
    for (const one of this.state.offboardings) if (one.user === user) one.restored = true;
  }

  /** The group decides who may use the application. */
  protected *member({ user, joins }: Of<'member'>): Steps {
    const { application } = this.state;
    yield;
    if (joins && this.user(user).erased) return refused('SCIM 400');
    const others = application.members.filter((one) => one !== user);
    application.members = joins ? [...others, user] : others;
    return success();
  }
}
