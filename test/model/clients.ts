import { hashOfRecord } from '../../src/applications/persistence/oidc-record.repository';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { type Answer as Received, type TestService } from '../support/app';
import {
  askForTokens,
  exchange,
  type GivenApplication,
  givenApplication,
  OpenIdBrowser,
  postForm,
  type Sender,
} from '../support/openid';
import type { ScimClient } from '../support/scim/client';
import { bool, secondsOrNull, sidPrefix } from './columns';
import { type AppRecord, type Answer, type Request, type Rows } from './state';

const ops = [
  ...(['signInAtApplication', 'exchange', 'refreshOfApplication', 'userinfo', 'revocation', 'endGrant'] as const),
  ...(['application', 'scimCreate', 'scim', 'member'] as const),
];

export type ClientRequest = Extract<Request, { op: (typeof ops)[number] }>;

export const isOfClient = (request: Request): request is ClientRequest =>
  (ops as readonly string[]).includes(request.op);

interface Administration {
  readonly scim: ScimClient;
  administrator(service: TestService): Promise<string>;
}

/** An application and a client of SCIM: sends their requests, and reads what the tables hold of them. */
export class Clients {
  /** Codes and tokens by the hash that the table has. */
  private readonly records = new Map<string, string>();
  private readonly verifiers = new Map<string, string>();
  private signedIn = false;
  private provisioned = false;

  private constructor(
    private readonly administration: Administration,
    private readonly application: GivenApplication,
    private readonly group: string,
    private readonly uids: string[],
    private readonly hash: (kind: AppRecord['kind'], value: string) => string,
  ) {}

  static async of(
    [first]: readonly TestService[],
    administration: Administration,
    run: string,
    uids: string[],
  ): Promise<Clients> {
    const group = await administration.scim.givenGroup(`group-${run}`, uids);
    const application = await givenApplication(first!, { firstParty: false, allowedGroups: [group] });
    const keys = first!.app.get(KeyRing);
    return new Clients(administration, application, group, uids, (kind, value) => hashOfRecord(keys, kind, value));
  }

  /** @param next chooses the replica that answers */
  async send(request: ClientRequest, next: () => TestService, textOf: (token: string) => string): Promise<Answer> {
    switch (request.op) {
      case 'signInAtApplication':
        return this.signIn(next, textOf(request.token), request.offline);
      case 'exchange': {
        const url = new URL(`https://app.example.com/callback?code=${request.code}`);
        const authorization = { url, verifier: this.verifiers.get(request.code)! };
        return this.tokens(await exchange(next(), this.application, authorization));
      }
      case 'refreshOfApplication': {
        const form = { grant_type: 'refresh_token', refresh_token: request.presented };
        return this.tokens(await askForTokens(next(), this.application, form));
      }
      case 'userinfo': {
        const { status, body } = await next().get('/oidc/me', { bearer: request.presented });
        return status === 200 ? { code: 'success', sub: body.sub } : { code: body.error as string };
      }
      case 'revocation': {
        const form = { token: request.presented };
        const { status, body } = await postForm(next(), '/oidc/token/revocation', this.application, form);
        return { code: status === 200 ? 'success' : (body.error as string) };
      }
      case 'endGrant': {
        const bearer = textOf(request.token);
        const { status, body } = await next().send('DELETE', `/user/grants/${request.id}`, undefined, { bearer });
        return status === 200 ? { code: 'success', ...body.data } : { code: body.error_code as string };
      }
      case 'application':
        return this.setEnabled(next(), request.enabled);
      default:
        return this.provision(next(), request);
    }
  }

  /** A new browser each time. Each of its requests goes to the next replica. */
  private async signIn(next: () => TestService, access: string, offline: boolean): Promise<Answer> {
    this.signedIn = true;
    const sender: Sender = { send: (...request) => next().send(...request) };
    const asked: Record<string, string> = offline
      ? { scope: 'openid offline_access', prompt: 'consent' }
      : { scope: 'openid' };
    // A sign-in that does not end with a code was refused.
    const { url, verifier } = await new OpenIdBrowser(sender)
      .signIn(this.application, access, asked, true)
      .catch((error: Error) => {
        if (/ answered [45]0\d /.test(error.message) && !/ answered 50\d /.test(error.message))
          return { url: undefined, verifier: '' };
        throw error;
      });
    const code = url?.searchParams.get('code') ?? undefined;
    if (code === undefined) return { code: 'refused' };
    this.remember('AuthorizationCode', code);
    this.verifiers.set(code, verifier);
    return { code: 'success', value: code };
  }

  private tokens({ status, body }: Received): Answer {
    if (status !== 200) return { code: body.error as string };
    const { access_token, refresh_token } = body as { access_token: string; refresh_token: string };
    this.remember('AccessToken', access_token);
    this.remember('RefreshToken', refresh_token);
    return { code: 'success', access_token, refresh_token };
  }

  private remember(kind: AppRecord['kind'], value: string): void {
    this.records.set(this.hash(kind, value), value);
  }

  private async setEnabled(service: TestService, enabled: boolean): Promise<Answer> {
    const bearer = await this.administration.administrator(service);
    const path = `/admin/applications/${this.application.id}`;
    const { status, body } = await service.send('PATCH', path, { enabled }, { bearer });
    return { code: status === 200 ? 'success' : (body.error_code as string) };
  }

  private async provision(
    service: TestService,
    request: Extract<ClientRequest, { op: 'scimCreate' | 'scim' | 'member' }>,
  ): Promise<Answer> {
    this.provisioned = true;
    const client = this.administration.scim.at(service);
    const { status, body } = await this.asked(client, request);
    if (status >= 300) return { code: `SCIM ${status}` };
    if (request.op === 'scimCreate') this.uids.push(body.id as string);
    const shown = request.op === 'member' ? {} : { id: body?.id as unknown, active: body?.active as unknown };
    return { code: 'success', ...shown };
  }

  private asked(client: ScimClient, request: Parameters<Clients['provision']>[1]): Promise<Received> {
    switch (request.op) {
      case 'scimCreate': {
        const emails = [{ value: `${request.name}@example.com`, type: 'work', primary: true }];
        return client.ask('POST', '/Users', { userName: request.name, emails });
      }
      case 'scim': {
        const path = `/Users/${this.uids[request.user]}`;
        if (request.action === 'delete') return client.ask('DELETE', path);
        return client.patch(path, [{ op: 'replace', path: 'active', value: request.action === 'enable' }]);
      }
      case 'member': {
        const value = this.uids[request.user]!;
        const joins = { op: 'add', path: 'members', value: [{ value }] };
        const leaves = { op: 'remove', path: `members[value eq "${value}"]` };
        return client.patch(`/Groups/${this.group}`, [request.joins ? joins : leaves]);
      }
    }
  }

  /** Tables that no request of the history has touched are not read. */
  async rows(select: (sql: string) => Promise<Record<string, any>[]>): Promise<Rows> {
    const read = (sql: string, isTouched: boolean) => (isTouched ? select(sql) : []);
    const user = (row: Record<string, any>) => this.uids.indexOf(row.user_id as string);
    const [grants, records, logouts, offboardings, members] = await Promise.all([
      read(statements.grants, this.signedIn),
      read(statements.records, this.signedIn),
      read(statements.application_logouts, this.signedIn),
      read(statements.offboardings, this.provisioned),
      select(statements.members.replace('$group', this.group)),
    ]);
    const sidOf = (sid: string | null) => sid && sidPrefix + sid;
    return {
      grants: grants.map((row) => ({ id: row.id_hash as string, user: user(row) })),
      records: records.map((row) => ({
        ...{ kind: row.kind, value: this.records.get(row.id_hash as string), user: user(row), sid: sidOf(row.sid) },
        ...{ expires: secondsOrNull(row.expires), used: bool(row.used), live: bool(row.live) },
      })),
      application_logouts: logouts.map((row) => ({ sid: sidOf(row.sid), user: user(row) })),
      members: members.map((row) => ({ user: user(row) })),
      offboardings: offboardings.map((row) => ({ user: user(row), restored: bool(row.restored) })),
    };
  }
}

/** A record counts while its grant is there and the credential version of the user is that of the grant. */
const statements = {
  grants: `SELECT g.id_hash, g.user_id FROM oidc_records g JOIN users u ON u.uid = g.user_id
    WHERE g.kind = 'Grant' AND g.credential_version = u.credential_version AND u.uid IN (?, ?)`,
  records: `SELECT r.kind, r.id_hash, r.user_id, r.sid, r.expires, r.consumed_at IS NOT NULL AS used,
    r.sid IS NULL OR (s.is_revoked = 0 AND s.credential_version = u.credential_version) AS live
    FROM oidc_records r JOIN oidc_records g ON g.id_hash = r.grant_hash AND g.kind = 'Grant'
    JOIN users u ON u.uid = r.user_id AND u.credential_version = g.credential_version
    LEFT JOIN login_tokens s ON s.jti = r.sid
    WHERE r.kind IN ('AuthorizationCode', 'AccessToken', 'RefreshToken') AND u.uid IN (?, ?)`,
  application_logouts: 'SELECT sid, user_id FROM application_logouts WHERE user_id IN (?, ?)',
  offboardings: 'SELECT user_id, restored_at IS NOT NULL AS restored FROM offboardings WHERE user_id IN (?, ?)',
  members: "SELECT user_id FROM user_group_members WHERE group_id = '$group' AND user_id IN (?, ?)",
};
