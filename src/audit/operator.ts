/**
 * Who runs the command line. Provided in the process of a command and nowhere else, so that no change of a command can be
 * written to the audit without its actor.
 */
export class Operator {
  /** @param name `--actor`, or the system user */
  constructor(readonly name: string) {}
}
