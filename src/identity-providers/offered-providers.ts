import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { SharedReading } from '../shared/shared-reading';
import type { IdentityProvider } from './identity-provider.entity';
import { IdentityProviders } from './identity-providers.repository';
import { secretDaysLeft } from './secret-end';

/** A change on another replica is seen after this time. */
export const offeredForMs = 5_000;

const mostMeasured = 100;

type Offered = Pick<IdentityProvider, 'id' | 'name' | 'domains' | 'listed' | 'clientSecretExpires'>;

/**
 * The enabled providers, for what everybody may ask without a token: no request costs a statement of its own. Only what is
 * shown is decided by it; a sign-in reads the row.
 */
@Injectable()
export class OfferedProviders {
  private reading: SharedReading<readonly Offered[]>;
  private last: readonly Offered[] = [];

  constructor(
    private readonly providers: IdentityProviders,
    private readonly clock: Clock,
  ) {
    this.reading = this.anew();
  }

  /** While the database does not answer, those that were read last: the sign-in page then still shows passwords. */
  async all(): Promise<readonly Offered[]> {
    return this.reading.value();
  }

  /** For a user who signs in there. A provider that was disabled meanwhile is named by its id. */
  async nameOf(id: string): Promise<string> {
    return (await this.all()).find((one) => one.id === id)?.name ?? id;
  }

  /** For a metric whose labels are ids, so there is a limit. */
  async secretDays(): Promise<ReadonlyMap<string, number>> {
    const now = this.clock.now();
    const days = (await this.all()).flatMap(({ id, clientSecretExpires: expires }): [string, number][] =>
      expires === null ? [] : [[id, secretDaysLeft(expires, now)]],
    );
    return new Map(days.slice(0, mostMeasured));
  }

  /** After a change by this process, so that its administrator sees it at once. */
  forget(): void {
    this.reading = this.anew();
  }

  private anew(): SharedReading<readonly Offered[]> {
    return new SharedReading(
      () => this.read(),
      () => true,
      this.clock,
      offeredForMs,
    );
  }

  private async read(): Promise<readonly Offered[]> {
    try {
      this.last = (await this.providers.list()).filter(({ enabled }) => enabled);
    } catch {
      // An outage of the database is reported by what needs it.
    }
    return this.last;
  }
}
