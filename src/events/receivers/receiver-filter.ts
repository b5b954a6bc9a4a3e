import { auditTypes, loginTypes } from '../event-types';
import type { EventReceiver } from './event-receiver.entity';
import type { ReceiverEvent } from './receiver-event.entity';
import { hasSecurityMeaning } from './security-event';

export type WantedEvent = ReceiverEvent & { readonly payload: string };

const known: readonly string[] = [...Object.values(auditTypes), ...Object.values(loginTypes)];

/** Whether the filters of the receiver let the event through, and its payload is there. */
export function wants(
  { format, types, tenants }: Pick<EventReceiver, 'format' | 'types' | 'tenants'>,
  event: ReceiverEvent,
): event is WantedEvent {
  if (event.payload === null) return false;
  if (types.length > 0 && !types.some((filter) => covers(filter, event.type))) return false;
  if (tenants.length > 0 && (event.tenantId === null || !tenants.includes(event.tenantId))) return false;
  return format !== 'set' || hasSecurityMeaning(event.type);
}

/** Whether a filter of types covers a type that exists. */
export const isTypeFilter = (filter: string): boolean => known.some((type) => covers(filter, type));

/** `user.*` covers all types that begin with `user.`. */
const covers = (filter: string, type: string): boolean =>
  filter.endsWith('.*') ? type.startsWith(filter.slice(0, -1)) : filter === type;
