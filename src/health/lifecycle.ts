import { Injectable } from '@nestjs/common';

/** From SIGTERM on the program drains: readiness is red and answers close their connections, but all are still served. */
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
