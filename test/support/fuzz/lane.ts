import { generateSync } from 'otplib';
import { SoftAuthenticator } from '../authenticator';
import type { SeededNumbers } from '../seeded-numbers';
import { listOf, type Operation } from './operations';
import type { FuzzRequest } from './request';
import type { Seen } from './values';

export interface Account {
  readonly uid: string;
  readonly name: string;
  password: string;
  access: string;
  refresh: string;
}

/** All of them meet every policy that is set. */
export const passwords = Array.from({ length: 8 }, (_, n) => `Correct-Horse-Battery-${n}-Staple`);

/** The next operation that makes sense after a success. */
const next: Readonly<Record<string, readonly string[]>> = {
  createPasskeyOptions: ['registerPasskey'],
  registerPasskey: ['createPasskeyChallenge'],
  createPasskeyChallenge: ['loginWithPasskey'],
  createTotpSecret: ['verifyOtp', 'getOtpQrCode'],
  getOtpQrCode: ['verifyOtp'],
  verifyOtp: ['createRecoveryCodes', 'login', 'getTrustedDevices'],
  getTrustedDevices: ['deleteTrustedDevice', 'login'],
  createRecoveryCodes: ['login'],
  login: ['verifyOtp', 'refresh', 'introspectToken'],
  forgetPassword: ['getPasswordChangeRequest', 'changePasswordByRequest'],
  getPasswordChangeRequest: ['changePasswordByRequest'],
  listSessions: ['endSession'],
  adminListMails: ['adminRetryMail'],
  adminListEvents: ['adminRetryEvent'],
  adminCreateEventReceiver: ['adminChangeEventReceiver', 'adminReplayEventReceiver', 'adminDeleteEventReceiver'],
  adminCreateUser: ['adminChangeUser', 'adminDeleteUser', 'adminInviteUser'],
  adminCreateIdentityProvider: ['adminChangeIdentityProvider', 'adminTryIdentityProvider', 'beginExternalLogin'],
};

const noBrand = Object.fromEntries(
  ['name', 'color', 'logo_light', 'logo_dark', 'favicon', 'support_url', 'privacy_url', 'imprint_url'].map((name) => [
    name,
    null,
  ]),
);

/** What one client knows: its account, that of an administrator, and what the service has answered. */
export class Lane {
  readonly authenticator: SoftAuthenticator;
  /** The next operation of a story that has begun. */
  following: string | undefined;
  expired: { user: boolean; admin: boolean } = { user: false, admin: false };
  /** No other issuer answers. Without `openid` the service refuses the scopes. */
  private readonly provider: { readonly issuer: string; readonly client_id: string; readonly scopes: string[] };
  private creation: any;
  private assertion: any;
  private secret: string | undefined;
  private recoveryCodes: string[] = [];
  private pending: { uid: string; mfa_token: string; mfa_type: string } | undefined;

  constructor(
    readonly user: Account,
    readonly admin: Account,
    readonly client: { readonly id: string; readonly secret: string },
    readonly seen: Seen,
    readonly numbers: SeededNumbers,
    { origin, issuer }: { readonly origin: string; readonly issuer: string },
  ) {
    this.authenticator = new SoftAuthenticator(origin);
    this.provider = { issuer, client_id: 'fuzz', scopes: ['openid', 'email'] };
  }

  /** Fields of the body with which the operation may succeed. The schema gives the others. */
  meaningful(operation: Operation): Record<string, unknown> {
    const { user, numbers, seen } = this;
    const password = numbers.pick(passwords);
    switch (operation.id) {
      case 'login':
        return { username: user.name, password: user.password, provider: 'password' };
      case 'loginWithPasskey':
        if (this.assertion === undefined || this.authenticator.credentials.length === 0) return {};
        return {
          challenge_id: this.assertion.challenge_id,
          response: this.authenticator.get(this.assertion.options),
        };
      case 'registerPasskey':
        return this.creation === undefined ? {} : { response: this.authenticator.create(this.creation) };
      case 'adminReplayEvents':
        return { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
      case 'adminCreateEventReceiver':
        return this.receiver();
      case 'adminChangeEventReceiver':
        return { ...this.receiver(), id: undefined, enabled: false };
      case 'adminReplayEventReceiver':
        return { from: '2026-01-01T00:00:00Z', event: undefined };
      case 'reauthenticate':
        return { password: user.password };
      case 'changeOwnPassword':
        return { current_password: user.password, password, confirm_password: password };
      case 'changePasswordByRequest':
        return { req_uid: seen.pick('req_uid', numbers), password, confirm_password: password };
      case 'verifyOtp':
        return this.otp();
      case 'createTotpSecret':
        return this.secret === undefined ? { code: null } : { code: this.code() };
      case 'adminCreateUser':
        return this.newUser();
      case 'adminChangeUser':
        return { status: 1 };
      case 'adminBulkUsers':
        return { uids: [seen.pick('uid', numbers) ?? 'nobody'], action: 'enable', tenant_id: undefined };
      case 'discoverSignIn':
        return { username: `${user.name}@example.com` };
      case 'adminCreateIdentityProvider':
        return { ...this.provider, id: `made-${numbers.next(1_000_000)}` };
      case 'adminChangeIdentityProvider':
        return this.provider;
      case 'adminMoveUser':
        return this.move();
      case 'adminCreateTenant':
        return { id: `made-${numbers.next(1_000_000)}` };
      case 'adminSetDefaultBrand':
      case 'adminSetBrand':
        // The schema gives other fields, and a text at random is neither an image nor a link.
        return { ...noBrand, tagline: `made-${numbers.next(1_000_000)}` };
      case 'adminCreateOrgUnit':
        return { id: `made-${numbers.next(1_000_000)}`, tenant_id: 'root' };
      default:
        return {};
    }
  }

  /** Only a user who signs in elsewhere can be moved to a password. */
  private move(): Record<string, unknown> {
    const id = this.seen.pick('id of /admin/identity-providers', this.numbers);
    return id === undefined || this.numbers.chance(30)
      ? { provider: 'password', identity_provider: undefined, external_id: undefined }
      : { provider: 'oidc', identity_provider: id };
  }

  /** Keeps what later requests can use. */
  learn(request: FuzzRequest, status: number, body: any): void {
    const { operation } = request;
    if (status === 401 && request.as !== undefined) this.expired[request.as] = true;
    if (operation === undefined || request.method !== operation.method || status !== 200) return;
    this.following = this.numbers.chance(70) ? this.numbers.pick(next[operation.id] ?? [undefined]) : undefined;
    const data = body?.data ?? body;
    if (typeof data !== 'object' || data === null) return;
    this.harvest(data, listOf(operation.template));
    this.remember(operation.id, data, request);
  }

  private remember(id: string, data: any, { body }: FuzzRequest): void {
    if (id === 'createPasskeyOptions') this.creation = data;
    if (id === 'createPasskeyChallenge') this.assertion = data;
    if (id === 'createTotpSecret') this.secret = data.secret;
    if (id === 'createRecoveryCodes') this.recoveryCodes = [...data.codes];
    if (id === 'forgetPassword' && typeof data.uid === 'string') this.seen.add('req_uid', data.uid);
    if (id === 'login' && data.mfa_required === true) {
      this.pending = { uid: data.user_info.uid, mfa_token: data.mfa_token, mfa_type: data.mfa_type };
    }
    if (id === 'changeOwnPassword') {
      const sent = JSON.parse(body!.toString()) as { password: string };
      Object.assign(this.user, { password: sent.password, access: data.access_token, refresh: data.refresh_token });
    }
  }

  private harvest(node: any, list: string): void {
    if (Array.isArray(node)) return node.slice(0, 5).forEach((item) => this.harvest(item, list));
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (name === 'id') this.seen.add(`id of ${list}`, value);
      // The accounts of the lanes have to stay, so other requests never learn who they are.
      else if (name === 'uid' && isOfLane(node)) continue;
      else if (name === 'next') this.seen.add(`after of ${list}`, value);
      else if (typeof value === 'string') this.seen.add(name, value);
      else this.harvest(value, list);
    }
  }

  private otp(): Record<string, unknown> {
    const recovery = this.recoveryCodes.length > 0 && this.numbers.chance(40);
    const code = recovery ? this.recoveryCodes.pop() : this.code();
    const type = recovery ? 'recovery' : 'totp';
    // Without a login that waits for its code, the request confirms a new authenticator.
    const { uid, mfa_token } = this.pending ?? { uid: this.user.uid, mfa_token: null };
    this.pending = undefined;
    return { uid, mfa_token, type, code, trust_device: this.numbers.chance(50) };
  }

  private code(): string {
    if (this.secret === undefined) return String(this.numbers.next(1_000_000)).padStart(6, '0');
    const epoch = Math.floor(Date.now() / 1000) + 30 * (this.numbers.next(3) - 1);
    return generateSync({ secret: this.secret, epoch });
  }

  /** Nothing listens there. */
  private receiver(): Record<string, unknown> {
    const id = `made-${this.numbers.next(1_000_000)}`;
    return { id, url: 'https://127.0.0.1:9/events', format: 'native', types: [], tenants: [], audience: null };
  }

  private newUser(): Record<string, unknown> {
    const name = `made-${this.numbers.next(1_000_000)}`;
    const invite = this.numbers.chance(30);
    return { login_name: name, email: `${name}@example.com`, tenant_id: 'root', org_unit_id: null, invite };
  }
}

/** The names of the accounts of lanes begin so. */
export const lanePrefix = 'lane-';

const isOfLane = (node: any): boolean => typeof node.login_name !== 'string' || node.login_name.startsWith(lanePrefix);
