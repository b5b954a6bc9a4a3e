import { Injectable } from '@nestjs/common';
import { DeliveryChecks } from './checks/delivery-checks';
import type { Finding } from './checks/finding';
import { SignInChecks } from './checks/sign-in-checks';
import { StoreChecks } from './checks/store-checks';

export { type Finding, finding, type Health } from './checks/finding';

/** The checks of `storedChecks` that are there with all settings. */
export const storedNames = ['writes', 'cluster', 'clock', 'captcha', 'smtp', 'events', 'legacy', 'idp'];

/**
 * Asks each server that the service uses, all at the same time, each for at most ten seconds. Nothing is changed and nothing is sent
 * (docs/operations/doctor.md). `doctor` and `POST /admin/checks` run it.
 */
@Injectable()
export class ConnectionChecks {
  constructor(
    private readonly stores: StoreChecks,
    private readonly signIns: SignInChecks,
    private readonly deliveries: DeliveryChecks,
  ) {}

  all(): Promise<Finding[]> {
    return Promise.all([...this.storedChecks(), ...this.otherChecks()]);
  }

  /** They need the tables: one table holds the settings of the mail server, another the used captcha tokens. */
  storedChecks(): Promise<Finding>[] {
    return [
      ...this.stores.ofDatabase(),
      this.signIns.ofCaptcha(),
      this.deliveries.ofMail(),
      ...this.deliveries.ofEvents(),
      this.signIns.ofLegacySystem(),
      this.signIns.ofIdentityProviders(),
      ...this.deliveries.ofLogouts(),
    ];
  }

  otherChecks(): Promise<Finding>[] {
    return [this.signIns.ofDirectory(), this.stores.ofRedis()];
  }
}
