import { decodeJwt } from 'jose';
import { eventStatus } from '../../../src/events/outbox/outbox-event.entity';
import { mailStatus } from '../../../src/mail/mail-status';
import { ndjson } from '../../../src/platform/http/answers.decorator';
import type { User } from '../../../src/users/user.entity';
import { givenDeviceRow, givenPasskeyRow, tokenOf } from '../admin';
import type { Smtp } from '../servers/smtp';
import { foreignId } from '../routes';
import { eventReceiversStory } from './event-receivers-story';
import { identityProvidersStory } from './identity-providers-story';
import type { Recorder } from './recorder';

/** An administrator of the root tenant uses every endpoint of the administration. */
export async function administrationStory(recorder: Recorder, alice: User, smtp: Smtp): Promise<void> {
  const { service } = recorder;
  const admin = await service.givenUser('admin', { isAdmin: true, nickname: 'Administrator', password: null });
  // A change needs a young session, and this story takes less than its 300 seconds.
  const bearer = await tokenOf(service, admin);
  const call = (operationId: string, ask: Parameters<Recorder['call']>[1] = {}) =>
    recorder.call(operationId, { bearer, ...ask });
  const list = async (operationId: string, parameters: Record<string, string | number> = {}) => {
    await call(operationId, { parameters: { limit: 2, ...parameters } });
    await call(operationId, { parameters, headers: { accept: ndjson } });
    await call(operationId, { parameters: { ...parameters, limit: 0 } });
  };

  await call('adminCreateTenant', { body: { id: 'acme', name: 'Acme' } });
  await call('adminCreateTenant', { body: {} });
  await call('adminRenameTenant', { parameters: { id: 'acme' }, body: { name: 'Acme Ltd' } });
  await call('adminRenameTenant', { parameters: { id: 'acme' }, body: {} });
  await list('adminListTenants');
  await call('adminGetDefaultBrand');
  await call('adminSetDefaultBrand', { body: { name: 'Example Corp', support_url: 'mailto:help@example.com' } });
  await call('adminSetDefaultBrand', { body: { color: '#ffff00' } });
  const brand = { name: 'Acme', color: '#a01030', tagline: 'One account for everything' };
  await call('adminSetBrand', { parameters: { tenant_id: 'acme' }, body: brand });
  await call('adminSetBrand', { parameters: { tenant_id: 'acme' }, body: { logo_light: 'https://example.com/a.svg' } });
  await call('adminSetBrand', { parameters: { tenant_id: 'nobody' }, body: brand });
  await call('adminGetBrand', { parameters: { tenant_id: 'acme' } });
  await call('adminGetBrand', { parameters: { tenant_id: 'nobody' } });
  await call('adminCreateOrgUnit', { body: { id: 'sales', name: 'Sales', tenant_id: 'acme' } });
  await call('adminCreateOrgUnit', { body: {} });
  await call('adminRenameOrgUnit', { parameters: { id: 'sales' }, body: { name: 'Sales and service' } });
  await call('adminRenameOrgUnit', { parameters: { id: 'sales' }, body: {} });
  await list('adminListOrgUnits', { tenant_id: 'acme' });

  const made = await call('adminCreateGroup', { body: { name: 'Sales' } });
  await call('adminCreateGroup', { body: {} });
  const group = { id: made.body.data.id as string };
  const noGroup = { id: admin.uid };
  await list('adminListGroups', { query: 'sal' });
  await call('adminGetGroup', { parameters: group });
  await call('adminGetGroup', { parameters: noGroup });
  await call('adminChangeGroup', { parameters: group, body: { name: 'Sales EMEA' } });
  await call('adminChangeGroup', { parameters: group, body: {} });
  await call('adminAddGroupMember', { parameters: { ...group, uid: admin.uid } });
  await call('adminAddGroupMember', { parameters: { ...noGroup, uid: admin.uid } });
  await list('adminListGroupMembers', group);
  await call('adminRemoveGroupMember', { parameters: { ...group, uid: admin.uid } });
  await call('adminRemoveGroupMember', { parameters: { ...noGroup, uid: admin.uid } });
  await call('adminDeleteGroup', { parameters: group });
  await call('adminDeleteGroup', { parameters: noGroup });

  await call('adminRunChecks');

  const grafana = { name: 'Grafana', type: 'web', redirect_uris: ['https://grafana.example.com/login/generic_oauth'] };
  const tile = { uri: 'https://grafana.example.com', first_party: true };
  const registered = await call('adminCreateApplication', { body: { ...grafana, ...tile } });
  await call('adminCreateApplication', { body: { ...grafana, redirect_uris: ['http://grafana.example.com/*'] } });
  const application = { id: registered.body.data.id as string };
  const unknown = { id: admin.uid };
  await list('adminListApplications');
  await call('adminGetApplication', { parameters: application });
  await call('adminGetApplication', { parameters: unknown });
  await call('adminPreviewApplicationClaims', { parameters: application });
  await call('adminPreviewApplicationClaims', { parameters: unknown });
  await call('adminChangeApplication', {
    parameters: application,
    body: { post_logout_redirect_uris: [`${tile.uri}/login`] },
  });
  await call('adminChangeApplication', { parameters: application, body: {} });
  await call('adminRotateApplicationSecret', { parameters: application, body: { keep_old_seconds: 86_400 } });
  await call('adminRotateApplicationSecret', { parameters: application, body: { keep_old_seconds: -1 } });
  await recorder.call('listApplications', { bearer: await tokenOf(service, alice) });
  await recorder.call('listApplications');
  await call('adminDeleteApplication', { parameters: application });
  await call('adminDeleteApplication', { parameters: application });

  await identityProvidersStory(recorder, call, list, bearer);
  await eventReceiversStory(call, list);

  const carol = { login_name: 'carol', email: 'carol@example.com', nickname: 'Carol', tenant_id: 'acme' };
  const created = await call('adminCreateUser', { body: { ...carol, org_unit_id: 'sales', invite: true } });
  await call('adminCreateUser', { body: { login_name: 'carol' } });
  await call('adminCreateUser', { body: carol });
  const parameters = { uid: created.body.data.uid as string };
  await recorder.silent('adminInviteUser', { bearer, parameters });
  await list('adminListUsers', { query: 'a' });
  await call('adminGetUser', { parameters });
  await call('adminChangeUser', { parameters, body: { nickname: 'Caroline', mfa_type: 'totp' } });
  await call('adminChangeUser', { parameters, body: {} });
  await call('adminInviteUser', { parameters });
  await call('adminUnlockUser', { parameters });
  await call('adminRevokeSessions', { parameters });
  await call('adminResetSecondFactor', { parameters });
  await call('adminRequirePasswordChange', { parameters });
  service.clock.advanceSeconds(61);
  await call('adminSendResetLink', { parameters });

  await list('adminListUserSessions', { uid: alice.uid });
  await list('adminListUserLogins', { uid: alice.uid });
  const passkey = await givenPasskeyRow(service, alice.uid, 'My phone');
  await list('adminListUserPasskeys', { uid: alice.uid });
  await call('adminDeleteUserPasskey', { parameters: { uid: alice.uid, id: passkey } });
  await call('adminDeleteUserPasskey', { parameters: { uid: alice.uid, id: passkey } });
  const { sid } = decodeJwt(await tokenOf(service, alice)) as { sid: string };
  await call('adminEndUserSession', { parameters: { uid: alice.uid, sid } });
  await call('adminEndUserSession', { parameters: { uid: alice.uid, sid } });
  const device = await givenDeviceRow(service, alice.uid);
  await list('adminListUserDevices', { uid: alice.uid });
  await call('adminDeleteUserDevice', { parameters: { uid: alice.uid, id: device } });
  await call('adminDeleteUserDevice', { parameters: { uid: alice.uid, id: device } });
  const uids = [alice.uid, foreignId];
  await call('adminBulkUsers', { body: { uids, action: 'enable' } });
  await call('adminBulkUsers', { body: { uids, action: 'move' } });
  const csv = { 'content-type': 'text/csv' };
  const file = 'login_name,email,nickname\ndave,dave@example.com,Dave\ncarol,carol@example.com,Carol\n';
  await call('adminImportUsers', { parameters: { dry_run: true }, body: file, headers: csv });
  await call('adminImportUsers', { body: 'name\ndave\n', headers: csv });
  await call('adminExportUser', { parameters });
  await call('adminOffboardUser', { parameters, body: { via: 'console' } });
  await call('adminOffboardUser', { parameters, body: { via: 'cli' } });
  await call('adminGetOffboarding', { parameters });
  await call('adminDeleteUser', { parameters });
  await call('adminDeleteUser', { parameters });
  await list('adminListLoginLogs', { outcome: 'LOGIN_401001' });
  await call('adminListLoginLogs', { parameters: { format: 'csv' } });
  await list('adminListAuditLogs', { actor_id: admin.uid });
  await call('adminListAuditLogs', { parameters: { format: 'csv' } });
  await call('adminOverview');

  await list('adminListConfig');
  await call('adminSettings');
  const setting = { group: 'SMTP', key: 'SENDER' };
  await call('adminSetConfig', { parameters: setting, body: { value: 'portal@example.com' } });
  await call('adminSetConfig', { parameters: setting, body: {} });
  await call('adminUnsetConfig', { parameters: setting });
  await call('adminUnsetConfig', { parameters: { ...setting, key: 'COLOUR' } });
  const id = await givenDeadMail(recorder);
  await list('adminListMails', { status: 'dead' });
  await call('adminRetryMail', { parameters: { id } });
  await call('adminRetryMail', { parameters: { id: admin.uid } });
  const event = await givenDeadEvent(recorder);
  await list('adminListEvents', { status: 'dead' });
  await call('adminRetryEvent', { parameters: { id: event } });
  await call('adminRetryEvent', { parameters: { id: admin.uid } });
  const [from, to] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  await call('adminReplayEvents', { body: { from, to } });
  await call('adminReplayEvents', { body: { from: to, to: from } });

  const body = { to: 'admin@example.com' };
  await call('adminTestSmtp', { body: {} });
  await call('adminTestSmtp', { name: 'refused', summary: 'What the mail server said', body });
  // From here on the worker can send the waiting mails, at any moment. No later answer shows them.
  smtp.accept();
  await call('adminTestSmtp', { body });
}

/** No mail is given up within a story, so this one is made. */
async function givenDeadMail({ service: { clock, database } }: Recorder): Promise<string> {
  const id = crypto.randomUUID();
  const [now, later] = [clock.now(), clock.secondsFromNow(86_400)];
  await database.affected(
    `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at)
     VALUES (?, 'reset-link', 'x', ?, 12, ?, ?, ?)`,
    [id, mailStatus.dead, now, later, now],
  );
  return id;
}

/** An event that the receiver has refused for days. */
async function givenDeadEvent({ service: { clock, database } }: Recorder): Promise<string> {
  const [id, user] = [crypto.randomUUID(), crypto.randomUUID()];
  await database.affected(
    `INSERT INTO event_outbox (event_id, type, stream, payload, status, fresh, created_at)
     VALUES (?, 'user.unlocked', ?, '{}', ?, 0, ?)`,
    [id, user, eventStatus.dead, clock.now()],
  );
  return id;
}
