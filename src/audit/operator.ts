/**
 * The person who runs a command. Only the process of a command provides it, and AuditTrail adds it to every row: no
 * change by a command is recorded without its actor.
 */
export class Operator {
  /** @param name the value of `--actor`, or the user of the operating system */
  constructor(readonly name: string) {}
}
