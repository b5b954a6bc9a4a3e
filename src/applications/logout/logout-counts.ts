import { Injectable } from '@nestjs/common';

/** `postponed`: the application did not accept the token, which is sent again. */
export type LogoutResult = 'told' | 'failed' | 'postponed';

/** Counts the attempts of this process, for the metrics. */
@Injectable()
export class LogoutCounts {
  readonly by: Record<LogoutResult, number> = { told: 0, failed: 0, postponed: 0 };

  add(result: LogoutResult): void {
    this.by[result] += 1;
  }
}
