/** The server that all processes share for counters and for the memory of proofs. */
export abstract class RedisSettings {
  /** Undefined: each process counts alone. It may contain a password. */
  abstract readonly redisUrl: string | undefined;
}
