/** How often the open off-boardings are looked at. Tests inject other values. */
export class OffboardingLimits {
  readonly pollMs: number = 1000;
  /** A receiver that answers at once has answered by then. */
  readonly nudgeMs: number = 200;
  /** The shortest pause between two looks at one off-boarding. */
  readonly checkFloorMs: number = 1000;
  /** The longest one. */
  readonly checkCapMs: number = 60_000;
}

export const offboardingLimits = new OffboardingLimits();
