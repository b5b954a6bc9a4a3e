import type { ClientInfo } from '../shared/client-info';

/**
 * The administrator who makes a change through the API. On the command line the Operator takes this place, and AuditTrail
 * adds its name by itself.
 */
export interface Actor {
  /** The uid of the administrator. */
  readonly id: string;
  readonly client: ClientInfo;
}
