import type {
  AdminApplication,
  AdminApplicationChange,
  AdminApplicationClaims,
  AdminApplicationWithSecret,
  AdminAuditLog,
  AdminBrand,
  AdminBrandChange,
  AdminBulk,
  AdminBulkResult,
  AdminDevice,
  AdminChecks,
  AdminEvent,
  AdminEventReceiver,
  AdminEventReceiverChange,
  AdminEventReceiverTest,
  AdminEventReceiverWithSecret,
  AdminGroup,
  AdminGroupDetail,
  AdminGroupMember,
  AdminIdentityProvider,
  AdminIdentityProviderChange,
  AdminIdentityProviderTry,
  AdminImportReport,
  AdminLoginLog,
  AdminMail,
  AdminMailTest,
  AdminOrgUnit,
  AdminOverview,
  AdminPasskey,
  AdminReplay,
  AdminSession,
  AdminEffectiveSetting,
  AdminSetting,
  AdminTenant,
  AdminUser,
  AdminUserChange,
  AdminUserDetail,
  AdminUserLogin,
  AuditLogFilters,
  EventFilters,
  EventReceiverReplay,
  EventReplay,
  GroupFilters,
  LoginLogFilters,
  MailFilters,
  NewAdminApplication,
  NewAdminEventReceiver,
  NewAdminIdentityProvider,
  NewAdminUser,
  NewGroup,
  NewOrgUnit,
  NewTenant,
  OrgUnitFilters,
  UserFilters,
  UserMove,
} from './admin-types.js';
import { withCookies } from './external-sign-ins.js';
import * as operations from './generated/index.js';
import { type CallSignal, type Page, type PageOptions, Pages, pause } from './pages.js';
import type { Operation, OperationOptions, PortalAuth } from './portal-auth.js';
import type { Outcome } from './service-client.js';

export type * from './admin-types.js';
export { type CallSignal, type Page, type PageOptions, Pages } from './pages.js';

/** A file of all rows takes longer than any other answer. */
const fileMs = 600_000;

/** Each password of a file is hashed, which takes a quarter of a second. */
const importMs = 6 * 3_600_000;

export interface ImportOptions extends CallSignal {
  readonly dryRun?: boolean;
}

/** The query of a page, or the options that ask for the file of all rows. */
type ListOptions<Filters> = OperationOptions & { query: Filters & { after?: string; limit?: number } };
type ListOperation<T, Filters> = (options: ListOptions<Filters>) => Promise<Outcome<{ data: Page<T> }>>;

/**
 * The administration (docs/spec/extensions.md#d). It uses the tokens of a signed-in `PortalAuth`, with the same rules: a
 * refused access token is renewed once, and a missing answer is a `ConnectionError`. A change that needs a younger login
 * rejects with AUTH_403002: the user then logs in again.
 */
export class PortalAdmin {
  constructor(
    private readonly auth: Pick<PortalAuth, 'call'>,
    private readonly options: { readonly pause?: typeof pause } = {},
  ) {}

  overview({ signal }: CallSignal = {}): Promise<AdminOverview> {
    return this.data((options) => operations.adminOverview(options), signal);
  }

  /** Asks each server that the service uses. It takes up to ten seconds. An answer is given again for 30 seconds. */
  runChecks(): Promise<AdminChecks> {
    return this.data((options) => operations.adminRunChecks(options));
  }

  // Users

  users(filters: UserFilters = {}): Pages<AdminUser> {
    return this.pages((options) => operations.adminListUsers(options), filters);
  }

  user(uid: string, { signal }: CallSignal = {}): Promise<AdminUserDetail> {
    return this.data((options) => operations.adminGetUser({ ...options, path: { uid } }), signal);
  }

  createUser(body: NewAdminUser): Promise<AdminUserDetail> {
    return this.data((options) => operations.adminCreateUser({ ...options, body }));
  }

  /** Changes only the given fields. */
  changeUser(uid: string, body: AdminUserChange): Promise<AdminUserDetail> {
    return this.data((options) => operations.adminChangeUser({ ...options, path: { uid }, body }));
  }

  /** At most 500 users, each of which is done or refused alone, in this order. */
  async bulkUsers(body: AdminBulk): Promise<AdminBulkResult[]> {
    return (await this.data((options) => operations.adminBulkUsers({ ...options, body }))).results;
  }

  /**
   * Creates the users of a CSV file, or with `dryRun` tells what would become of each row. Importing a file again creates those that
   * are missing.
   */
  async importUsers(file: string | Blob, { dryRun = false, signal }: ImportOptions = {}): Promise<AdminImportReport> {
    const operation: Operation<{ data: AdminImportReport }> = (options) =>
      operations.adminImportUsers({ ...options, body: file as string, query: { dry_run: dryRun } });
    return (await this.auth.call(operation, { signal, timeoutMs: importMs })).data;
  }

  /** Erases what identifies the user. */
  async deleteUser(uid: string): Promise<void> {
    await this.data((options) => operations.adminDeleteUser({ ...options, path: { uid } }));
  }

  async unlockUser(uid: string): Promise<void> {
    await this.data((options) => operations.adminUnlockUser({ ...options, path: { uid } }));
  }

  async endUserSessions(uid: string): Promise<void> {
    await this.data((options) => operations.adminRevokeSessions({ ...options, path: { uid } }));
  }

  async resetSecondFactor(uid: string): Promise<void> {
    await this.data((options) => operations.adminResetSecondFactor({ ...options, path: { uid } }));
  }

  /** The next login asks for a new password. Open sessions go on: `endUserSessions` ends them. */
  async requirePasswordChange(uid: string): Promise<void> {
    await this.data((options) => operations.adminRequirePasswordChange({ ...options, path: { uid } }));
  }

  async inviteUser(uid: string): Promise<void> {
    await this.data((options) => operations.adminInviteUser({ ...options, path: { uid } }));
  }

  async sendResetLink(uid: string): Promise<void> {
    await this.data((options) => operations.adminSendResetLink({ ...options, path: { uid } }));
  }

  /** Signs the user out everywhere. Password, passkeys and links of before lead into the account no longer. */
  moveUser(uid: string, body: UserMove): Promise<AdminUserDetail> {
    return this.data((options) => operations.adminMoveUser({ ...options, path: { uid }, body }));
  }

  userSessions(uid: string): Pages<AdminSession> {
    return this.pages((options) => operations.adminListUserSessions({ ...options, path: { uid } }), {});
  }

  /** The other sessions go on. */
  async endUserSession(uid: string, sid: string): Promise<void> {
    await this.data((options) => operations.adminEndUserSession({ ...options, path: { uid, sid } }));
  }

  userDevices(uid: string): Pages<AdminDevice> {
    return this.pages((options) => operations.adminListUserDevices({ ...options, path: { uid } }), {});
  }

  /** The next login on the device needs a code. */
  async removeUserDevice(uid: string, id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteUserDevice({ ...options, path: { uid, id } }));
  }

  userLogins(uid: string): Pages<AdminUserLogin> {
    return this.pages((options) => operations.adminListUserLogins({ ...options, path: { uid } }), {});
  }

  userPasskeys(uid: string): Pages<AdminPasskey> {
    return this.pages((options) => operations.adminListUserPasskeys({ ...options, path: { uid } }), {});
  }

  /** A mail tells the owner. Sessions that began with the passkey go on. */
  async removeUserPasskey(uid: string, id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteUserPasskey({ ...options, path: { uid, id } }));
  }

  // Logs

  loginLogs(filters: LoginLogFilters = {}): Pages<AdminLoginLog> {
    return this.pages((options) => operations.adminListLoginLogs(options), filters);
  }

  auditLogs(filters: AuditLogFilters = {}): Pages<AdminAuditLog> {
    return this.pages((options) => operations.adminListAuditLogs(options), filters);
  }

  // Settings and mails

  /** All settings that can be written. The value of a secret is never sent. */
  async settings({ signal }: CallSignal = {}): Promise<AdminSetting[]> {
    return (await this.data((options) => operations.adminListConfig(options), signal)).items;
  }

  /** Every setting of the replica that answers, with its source. The value of a secret is never sent. */
  async effectiveSettings({ signal }: CallSignal = {}): Promise<AdminEffectiveSetting[]> {
    return (await this.data((options) => operations.adminSettings(options), signal)).items;
  }

  async setSetting(group: string, key: string, value: string): Promise<void> {
    await this.data((options) => operations.adminSetConfig({ ...options, path: { group, key }, body: { value } }));
  }

  /** The service uses its default again. */
  async removeSetting(group: string, key: string): Promise<void> {
    await this.data((options) => operations.adminUnsetConfig({ ...options, path: { group, key } }));
  }

  /** Sends a mail with the stored settings. `reply` is what the mail server said when it refused. */
  testMail(to: string): Promise<AdminMailTest> {
    return this.data((options) => operations.adminTestSmtp({ ...options, body: { to } }));
  }

  mails(filters: MailFilters = {}): Pages<AdminMail> {
    return this.pages((options) => operations.adminListMails(options), filters);
  }

  async retryMail(id: string): Promise<void> {
    await this.data((options) => operations.adminRetryMail({ ...options, path: { id } }));
  }

  // Events

  events(filters: EventFilters = {}): Pages<AdminEvent> {
    return this.pages((options) => operations.adminListEvents(options), filters);
  }

  /** Sends an event that was given up, with the same `webhook-id`. */
  async retryEvent(id: string): Promise<void> {
    await this.data((options) => operations.adminRetryEvent({ ...options, path: { id } }));
  }

  /** Sends the events from `from` to before `to` that were sent or given up once more, as new ones. */
  replayEvents(body: EventReplay): Promise<AdminReplay> {
    return this.data((options) => operations.adminReplayEvents({ ...options, body }));
  }

  // Event receivers, with `EVENT_RECEIVERS=on`

  eventReceivers(): Pages<AdminEventReceiver> {
    return this.pages((options) => operations.adminListEventReceivers(options), {});
  }

  eventReceiver(id: string, { signal }: CallSignal = {}): Promise<AdminEventReceiver> {
    return this.data((options) => operations.adminGetEventReceiver({ ...options, path: { id } }), signal);
  }

  /** Only this answer has the secret. */
  createEventReceiver(body: NewAdminEventReceiver): Promise<AdminEventReceiverWithSecret> {
    return this.data((options) => operations.adminCreateEventReceiver({ ...options, body }));
  }

  /** Changes only the given fields. `enabled` pauses and resumes. */
  changeEventReceiver(id: string, body: AdminEventReceiverChange): Promise<AdminEventReceiver> {
    return this.data((options) => operations.adminChangeEventReceiver({ ...options, path: { id }, body }));
  }

  async deleteEventReceiver(id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteEventReceiver({ ...options, path: { id } }));
  }

  /** @param keepOldSeconds how long the former secret signs beside the new one, which only this answer has */
  rotateEventReceiverSecret(id: string, keepOldSeconds = 0): Promise<AdminEventReceiverWithSecret> {
    const body = { keep_old_seconds: keepOldSeconds };
    return this.data((options) => operations.adminRotateEventReceiverSecret({ ...options, path: { id }, body }));
  }

  /** Sends this receiver its events once more, from a time or an event on. */
  replayEventReceiver(id: string, body: EventReceiverReplay): Promise<AdminEventReceiver> {
    return this.data((options) => operations.adminReplayEventReceiver({ ...options, path: { id }, body }));
  }

  /** Posts a test event now. */
  testEventReceiver(id: string): Promise<AdminEventReceiverTest> {
    return this.data((options) => operations.adminTestEventReceiver({ ...options, path: { id } }));
  }

  // Applications

  applications(): Pages<AdminApplication> {
    return this.pages((options) => operations.adminListApplications(options), {});
  }

  application(id: string, { signal }: CallSignal = {}): Promise<AdminApplication> {
    return this.data((options) => operations.adminGetApplication({ ...options, path: { id } }), signal);
  }

  /** Only this answer has the secret. */
  createApplication(body: NewAdminApplication): Promise<AdminApplicationWithSecret> {
    return this.data((options) => operations.adminCreateApplication({ ...options, body }));
  }

  /** Changes only the given fields. */
  changeApplication(id: string, body: AdminApplicationChange): Promise<AdminApplication> {
    return this.data((options) => operations.adminChangeApplication({ ...options, path: { id }, body }));
  }

  /** The tokens of the application end. */
  async deleteApplication(id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteApplication({ ...options, path: { id } }));
  }

  /** @param keepOldSeconds how long the former secret works beside the new one, which only this answer has */
  rotateApplicationSecret(id: string, keepOldSeconds = 0): Promise<AdminApplicationWithSecret> {
    const body = { keep_old_seconds: keepOldSeconds };
    return this.data((options) => operations.adminRotateApplicationSecret({ ...options, path: { id }, body }));
  }

  /** What the application would learn about the administrator who asks. Nobody signs in. */
  applicationClaims(id: string): Promise<AdminApplicationClaims> {
    return this.data((options) => operations.adminPreviewApplicationClaims({ ...options, path: { id } }));
  }

  // Groups

  groups(filters: GroupFilters = {}): Pages<AdminGroup> {
    return this.pages((options) => operations.adminListGroups(options), filters);
  }

  group(id: string, { signal }: CallSignal = {}): Promise<AdminGroupDetail> {
    return this.data((options) => operations.adminGetGroup({ ...options, path: { id } }), signal);
  }

  createGroup(body: NewGroup): Promise<AdminGroup> {
    return this.data((options) => operations.adminCreateGroup({ ...options, body }));
  }

  renameGroup(id: string, name: string): Promise<AdminGroup> {
    return this.data((options) => operations.adminChangeGroup({ ...options, path: { id }, body: { name } }));
  }

  /** Its members stay users. */
  async deleteGroup(id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteGroup({ ...options, path: { id } }));
  }

  groupMembers(id: string): Pages<AdminGroupMember> {
    return this.pages((options) => operations.adminListGroupMembers({ ...options, path: { id } }), {});
  }

  /** A success also for a user who is a member already. */
  async addGroupMember(id: string, uid: string): Promise<void> {
    await this.data((options) => operations.adminAddGroupMember({ ...options, path: { id, uid } }));
  }

  /** A success also for a user who is no member. */
  async removeGroupMember(id: string, uid: string): Promise<void> {
    await this.data((options) => operations.adminRemoveGroupMember({ ...options, path: { id, uid } }));
  }

  // Identity providers

  identityProviders(): Pages<AdminIdentityProvider> {
    return this.pages((options) => operations.adminListIdentityProviders(options), {});
  }

  identityProvider(id: string, { signal }: CallSignal = {}): Promise<AdminIdentityProvider> {
    return this.data((options) => operations.adminGetIdentityProvider({ ...options, path: { id } }), signal);
  }

  /** The service asks the issuer first. `fields` of the error say what cannot be saved. */
  createIdentityProvider(body: NewAdminIdentityProvider): Promise<AdminIdentityProvider> {
    return this.data((options) => operations.adminCreateIdentityProvider({ ...options, body }));
  }

  /** Changes only the given fields. The secret is never answered. */
  changeIdentityProvider(id: string, body: AdminIdentityProviderChange): Promise<AdminIdentityProvider> {
    return this.data((options) => operations.adminChangeIdentityProvider({ ...options, path: { id }, body }));
  }

  /** APP_400001 while users sign in with it. */
  async deleteIdentityProvider(id: string): Promise<void> {
    await this.data((options) => operations.adminDeleteIdentityProvider({ ...options, path: { id } }));
  }

  /**
   * Begins a sign-in that makes no session. The provider leads back to the console: `#/identity-providers/{id}?tried=CODE`.
   * @returns the address where the browser has to go
   */
  async tryIdentityProvider(id: string): Promise<string> {
    const path = { id };
    const { redirect_to } = await this.data((options) =>
      operations.adminTryIdentityProvider({ ...options, ...withCookies, path }),
    );
    return redirect_to;
  }

  /** What the provider has said, and what a sign-in would do. Once, within a minute. */
  identityProviderTry(id: string, code: string): Promise<AdminIdentityProviderTry> {
    return this.data((options) =>
      operations.adminReadIdentityProviderTry({ ...options, path: { id }, body: { code } }),
    );
  }

  // Brands

  /** The brand of a tenant; without one, the default. `inherited` is what a field shows that is null. */
  brand(tenant?: string, { signal }: CallSignal = {}): Promise<AdminBrand> {
    return this.data(
      (options) =>
        tenant === undefined
          ? operations.adminGetDefaultBrand(options)
          : operations.adminGetBrand({ ...options, path: { tenant_id: tenant } }),
      signal,
    );
  }

  /** A field that is missing stays as it is, and null removes it. Images are data URLs, or the paths that are shown. */
  setBrand(change: AdminBrandChange, tenant?: string): Promise<AdminBrand> {
    return this.data((options) =>
      tenant === undefined
        ? operations.adminSetDefaultBrand({ ...options, body: change })
        : operations.adminSetBrand({ ...options, path: { tenant_id: tenant }, body: change }),
    );
  }

  // Tenants and their units

  tenants(): Pages<AdminTenant> {
    return this.pages((options) => operations.adminListTenants(options), {});
  }

  createTenant(body: NewTenant): Promise<AdminTenant> {
    return this.data((options) => operations.adminCreateTenant({ ...options, body }));
  }

  renameTenant(id: string, name: string): Promise<AdminTenant> {
    return this.data((options) => operations.adminRenameTenant({ ...options, path: { id }, body: { name } }));
  }

  orgUnits(filters: OrgUnitFilters = {}): Pages<AdminOrgUnit> {
    return this.pages((options) => operations.adminListOrgUnits(options), filters);
  }

  createOrgUnit(body: NewOrgUnit): Promise<AdminOrgUnit> {
    return this.data((options) => operations.adminCreateOrgUnit({ ...options, body }));
  }

  renameOrgUnit(id: string, name: string): Promise<AdminOrgUnit> {
    return this.data((options) => operations.adminRenameOrgUnit({ ...options, path: { id }, body: { name } }));
  }

  private async data<T>(operation: Operation<{ data: T }>, signal?: AbortSignal): Promise<T> {
    return (await this.auth.call(operation, { signal })).data;
  }

  private pages<T, Filters extends object>(list: ListOperation<T, Filters>, filters: Filters): Pages<T> {
    return new Pages<T>({
      page: ({ after, limit, signal }: PageOptions) => {
        const page = { ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) };
        return this.data((options) => list({ ...options, query: { ...filters, ...page } }), signal);
      },
      file: ({ signal, format }) => {
        const file = { ...(format === undefined && { headers: { accept: 'application/x-ndjson' } }), parseAs: 'blob' };
        const query = { ...filters, ...(format !== undefined && { format }) };
        // With `parseAs`, the generated operation returns the body itself.
        const operation: Operation<unknown> = (options) => list({ ...options, ...file, query });
        return this.auth.call(operation, { signal, timeoutMs: fileMs }) as Promise<Blob>;
      },
      pause: this.options.pause ?? pause,
    });
  }
}
