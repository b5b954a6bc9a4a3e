import { Injectable } from '@nestjs/common';
import { openSmtpSecret } from '../mail/smtp-secret';
import { KeyRing } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';
import { SystemConfigs } from '../platform/settings/system-config.repository';
import { rootTenant } from '../platform/settings/system-settings';
import { assertTenant } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { assertWellFormed, isSecret, valuesKeepingSecret, storable } from './known-settings';

/** A stored setting. The value of a secret is never read, so it is null. */
export interface Setting {
  readonly group: string;
  readonly key: string;
  readonly value: string | null;
  readonly secret: boolean;
}

export interface SettingName {
  readonly group: string;
  readonly key: string;
  /** Only the operator of the command line names another tenant than root. */
  readonly tenant?: string;
}

/** Ends the transaction of a removal that finds nothing: without a change there is no audit row. */
class NotSet extends Error {}

const attempts = 5;

/** The settings in the table `system_configs`, which the service reads again within a second. */
@Injectable()
export class Configuration {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
    private readonly configs: SystemConfigs,
    private readonly keys: KeyRing,
  ) {}

  /** @throws AccountProblem when there is no such tenant */
  async list(tenant = rootTenant): Promise<Setting[]> {
    await assertTenant(this.database, tenant);
    const rows = await this.configs.list({ tenantId: tenant });
    return rows.map(({ group, key, value }) => {
      const secret = isSecret(group, key);
      return { group, key, value: secret ? null : value, secret };
    });
  }

  /**
   * Race: several callers set the same new key. One INSERT succeeds. The others fail with a duplicate key, and their next
   * attempt replaces that row.
   * @throws SettingProblem for an unknown group or key and for a wrong value
   */
  async set(by: Authority, { tenant = rootTenant, group, key }: SettingName, typed: string): Promise<Setting> {
    const value = storable(this.keys, group, key, typed);
    await assertTenant(this.database, tenant);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.changes.make(by, async ({ tx, record }) => {
          const detail = { tenant, group, key };
          const forgotten = await this.forgetSecret(tx, by, detail, value);
          await this.configs.replace(tx, { tenantId: tenant, group, key, value });
          await record('CONFIG_CHANGED', { detail: forgotten ? { ...detail, secret_removed: true } : detail });
        });
        return { group, key, value: isSecret(group, key) ? null : value, secret: isSecret(group, key) };
      } catch (error) {
        if (!isDuplicate(error) || attempt === attempts) throw error;
      }
    }
  }

  /**
   * Whether the setting has this value already. Also of a secret, which nobody can read.
   * @throws SettingProblem for an unknown group or key and for a wrong value
   */
  async has({ tenant = rootTenant, group, key }: SettingName, typed: string): Promise<boolean> {
    const value = storable(this.keys, group, key, typed);
    const row = (await this.configs.list({ tenantId: tenant, group })).find((one) => one.key === key);
    if (row === undefined) return false;
    if (!isSecret(group, key)) return row.value === value;
    try {
      return openSmtpSecret(this.keys, row.value) === typed;
    } catch {
      // A lost key of DATA_ENCRYPTION_KEY: the secret is written again.
      return false;
    }
  }

  /** @returns false when the setting was not set. @throws SettingProblem */
  async unset(by: Authority, { tenant = rootTenant, group, key }: SettingName): Promise<boolean> {
    assertWellFormed(group, key);
    await assertTenant(this.database, tenant);
    const detail = { tenant, group, key };
    try {
      await this.changes.make(by, async ({ tx, record }) => {
        if (!(await this.configs.remove(tx, { tenantId: tenant, group, key }))) throw new NotSet();
        const forgotten = await this.forgetSecret(tx, by, detail, undefined);
        await record('CONFIG_CHANGED', { detail: forgotten ? { ...detail, secret_removed: true } : detail });
      });
      return true;
    } catch (error) {
      if (error instanceof NotSet) return false;
      throw error;
    }
  }

  /**
   * With another SMTP HOST or PORT, or a weaker TLS, the password is removed: an administrator, who cannot read it, could
   * otherwise have it sent to a server of their own, or in clear text. The operator of the command line has the key that
   * decrypts it. Races with other changes of the setting: the UPDATE locks the row while its value lets the password stay,
   * until the transaction ends.
   * @returns whether there was a password
   */
  private async forgetSecret(
    tx: Transaction,
    { actor }: Authority,
    { tenant, group, key }: Required<SettingName>,
    value: string | undefined,
  ): Promise<boolean> {
    const from = actor === undefined ? undefined : valuesKeepingSecret(group, key, value);
    if (from === undefined) return false;
    const stays = await this.configs.lock(tx, { tenantId: tenant, group, key }, from);
    return !stays && this.configs.remove(tx, { tenantId: tenant, group: 'SMTP', key: 'SECRET' });
  }
}
