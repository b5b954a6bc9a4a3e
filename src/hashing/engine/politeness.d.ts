export class Politeness {
  constructor(options: { urgent: boolean; read?: () => string; lower?: () => void; now?: () => number });
  /** Called after each job. Returns whether this thread should be replaced by an urgent one. */
  isCrowded(): boolean;
}
