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

/**
 * The person who runs a command. Only the command line provides this class. AuditTrail then adds the name to every row,
 * so no change by a command is recorded without its actor.
 */
export class Operator {
  /** @param name the value of `--actor`, or the user of the operating system */
  constructor(readonly name: string) {}
}
