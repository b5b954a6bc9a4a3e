import { Injectable } from '@nestjs/common';

/**
 * From SIGTERM on the program drains: `/health/ready` answers 503 and every answer closes its connection, but requests
 * are still served.
 */
@Injectable()
export class Lifecycle {
  private stopping = false;

  get draining(): boolean {
    return this.stopping;
  }

  startDraining(): void {
    this.stopping = true;
  }
}
