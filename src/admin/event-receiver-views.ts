import type { ReceiverState } from '../events/event-receivers';
import type { EventReceiverItem } from './http/event-receivers.dto';

/** For the API and the command line. The secret is not part of it. */
export const receiverView = ({ receiver, waiting, oldestWaitingSeconds }: ReceiverState): EventReceiverItem => ({
  id: receiver.id,
  url: receiver.url,
  format: receiver.format,
  types: receiver.types,
  tenants: receiver.tenants,
  audience: receiver.audience,
  enabled: receiver.status === 0,
  waiting,
  oldest_waiting_seconds: Math.floor(oldestWaitingSeconds),
  last_success_at: receiver.lastSuccessAt?.toISOString() ?? null,
  failing_since: receiver.failingSince?.toISOString() ?? null,
  last_error: receiver.lastError,
  last_error_at: receiver.lastErrorAt?.toISOString() ?? null,
  next_attempt_at: receiver.failingSince === null ? null : receiver.nextAttemptAt.toISOString(),
  set_aside: receiver.setAside,
  last_set_aside: receiver.lastSetAside,
  old_secret_expires_at: receiver.oldSecretExpires?.toISOString() ?? null,
  created_at: receiver.createdAt.toISOString(),
  changed_at: receiver.changedAt.toISOString(),
});
