import { changeType } from '../shared/change-type';
import type { ToldColumn, ToldTable } from '../platform/database/told-rows';
import { columnOf } from './user-columns';
import { type UserColumn, userFields } from './user-fields';

/** How the export tells each field to its user. The keys repeat a name for the search. */
const kinds: Readonly<Record<UserColumn, ToldColumn>> = {
  ...{ uid: 'internal', loginName: 'value', loginNameKey: 'internal', email: 'value', emailKey: 'internal' },
  ...{ provenEmailKey: 'value', nickname: 'value', nicknameKey: 'internal', language: 'value' },
  ...{ password: 'withheld', salt: 'withheld', totpSecret: 'withheld', mustChangePassword: 'flag' },
  status: { 1: 'enabled', 0: 'not enabled', [-1]: 'disabled', [-2]: 'expired' },
  ...{ provider: 'value', identityProviderId: 'value', externalId: 'value', directoryId: 'value' },
  ...{ isAdmin: 'flag', role: 'value', mfaType: 'value', tenantId: 'value', orgUnitId: 'value' },
  ...{ createdAt: 'time', enabledAt: 'time', lastLoginSuccessTime: 'time', lastLoginFailedTime: 'time' },
  ...{ loginFailedCount: 'number', mfaFailedCount: 'number', mfaBlockedUntil: 'time' },
  ...{ directorySeenAt: 'time', deletedAt: 'time' },
  ...{ directoryLookUntil: 'internal', credentialVersion: 'internal', ownFactors: 'internal', inGroups: 'internal' },
  ...{ erasingSince: 'internal', held: 'internal', legacyLogin: 'internal' },
};

const fields = Object.keys(kinds) as UserColumn[];
const named = fields.flatMap((field) => {
  const { wire } = userFields[field] as { readonly wire?: string };
  return wire === undefined ? [] : [[columnOf(field), wire] as const];
});

export const toldUsers: readonly ToldTable[] = [
  {
    table: 'users',
    section: 'account',
    user: 'uid',
    order: ['uid'],
    columns: Object.fromEntries(
      fields.filter((field) => field !== 'uid').map((field) => [columnOf(field), kinds[field]]),
    ),
    names: { ...Object.fromEntries(named), topt_secret: 'totp_secret', proven_email_key: 'proven_email' },
    more: {
      tenant: '(SELECT t.name FROM tenants t WHERE t.id = users.tenant_id)',
      org_unit: '(SELECT o.name FROM org_units o WHERE o.id = users.org_unit_id)',
    },
  },
  {
    table: 'user_change_pwd_logs',
    section: 'password_changes',
    user: 'user_id',
    order: ['id'],
    columns: {
      ...{ id: 'internal', created_at: 'time', password: 'withheld', language: 'value' },
      type: Object.fromEntries(Object.entries(changeType).map(([name, value]) => [value, name])),
    },
  },
  { table: 'user_tenants', user: 'user_id', order: ['tenant_id'], columns: { tenant_id: 'value' } },
  { table: 'user_org_units', user: 'user_id', order: ['org_unit_id'], columns: { org_unit_id: 'value' } },
  { table: 'user_words', user: 'user_id', order: ['word'], columns: { word: 'value', tenant_id: 'internal' } },
];
