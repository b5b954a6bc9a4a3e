/** Limits of the requests to identity providers. Names that end in `Ms` are milliseconds. Tests inject other values. */
export class ProviderLimits {
  /** Of the look-up of the name, the connection and TLS. */
  readonly connectMs: number = 2000;
  /** Of one request with its whole answer. */
  readonly answerMs: number = 5000;
  /** Documents, keys and tokens have a few kilobytes. */
  readonly largestBody: number = 1_048_576;
  /** Parallel requests of this process to one provider. More are refused at once. */
  readonly parallel: number = 16;
  /** So many failures one after the other, and a provider is not asked for `avoidedMs`. Then one request tries it. */
  readonly failuresToAvoid: number = 3;
  readonly avoidedMs: number = 10_000;
  /** How long an answer without a secret (discovery, keys) is given again. It bounds what a flood of unknown keys can ask. */
  readonly keptMs: number = 10_000;
  /** Answers that are kept. Each has at most `largestBody`, and most have a few kilobytes. */
  readonly mostKept: number = 50;
}

export const providerLimits = new ProviderLimits();
