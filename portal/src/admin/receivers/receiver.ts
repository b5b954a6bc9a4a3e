import type { AdminEventReceiver, AdminEventReceiverChange, NewAdminEventReceiver } from '@portal-auth/sdk/admin';
import { issuerUrl } from '../../page-settings';
import { changedIn, filled, orNull } from '../drafts';

export const formats = ['native', 'cloudevents', 'set'] as const;
type Format = AdminEventReceiver['format'];

/** What the form holds: empty texts where the service has null. */
export interface Draft {
  readonly id: string;
  readonly url: string;
  readonly format: Format;
  readonly types: readonly string[];
  readonly tenants: readonly string[];
  readonly audience: string;
}

export const emptyDraft: Draft = { id: '', url: '', format: 'native', types: [], tenants: [], audience: '' };

export const draftOf = ({ id, url, format, types, tenants, audience }: AdminEventReceiver): Draft => ({
  ...{ id, url, format, types, tenants },
  audience: audience ?? '',
});

/** Receivers of tokens look up the keys of the OpenID provider. */
export const offeredFormats = (now: Format): readonly Format[] =>
  formats.filter((one) => one !== 'set' || issuerUrl !== '' || now === 'set');

const fieldsOf = (draft: Draft) => ({
  url: draft.url.trim(),
  format: draft.format,
  types: filled(draft.types),
  tenants: filled(draft.tenants),
  audience: draft.format === 'set' ? orNull(draft.audience) : null,
});

export const bodyOf = (draft: Draft): NewAdminEventReceiver => ({ id: draft.id.trim(), ...fieldsOf(draft) });

/** Only what was changed, so that two administrators who change different fields do not undo each other. */
export const changeOf = (before: Draft, now: Draft): AdminEventReceiverChange =>
  changedIn<AdminEventReceiverChange>(fieldsOf(before), fieldsOf(now));

export type State = 'sends' | 'fails' | 'paused';

export const stateOf = ({ enabled, failing_since: failing }: AdminEventReceiver): State =>
  !enabled ? 'paused' : failing === null ? 'sends' : 'fails';
