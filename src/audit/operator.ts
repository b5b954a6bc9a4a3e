/**
 * The person who runs a command. Only the command line provides this class. AuditTrail then adds the name to every row,
 * so no change by a command is recorded without its actor.
 */
export class Operator {
  /** @param name the value of `--actor`, or the user of the operating system */
  constructor(readonly name: string) {}
}
