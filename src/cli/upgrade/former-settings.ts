import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readKeySettings } from '../../platform/config/key-settings';
import { SettingsReader } from '../../platform/config/settings-reader';
import { readJwtSettings } from '../../sessions/jwt-settings';
import type { AppConfig } from '../../settings/app-config';
import type { UpgradeFinding } from './verdict';

interface Rule {
  readonly check: UpgradeFinding['check'];
  readonly status: 'no' | 'warn';
  /** While this migration is pending, no replica that runs knows the setting. */
  readonly since: string;
  readonly key: string;
  readonly harmful: (value: string | null) => boolean;
  readonly text: string;
}

/** Settings with which this version and one that it may run beside cannot share sessions (docs/operations/upgrade.md). */
const rules: readonly Rule[] = [
  {
    check: 'sessions',
    status: 'no',
    since: 'Proofs1769000000000',
    key: 'TOKEN_BINDING',
    harmful: (value) => value !== 'off',
    text: 'TOKEN_BINDING is not off: while a replica of 1.0.0 runs, people who sign in at the pages have to sign in again (upgrade.md#bound-tokens)',
  },
  {
    check: 'sessions',
    status: 'no',
    since: 'RefreshTokenAudience1767600000000',
    key: 'REFRESH_TOKEN_AUDIENCE',
    harmful: (value) => value === 'issuer',
    text: 'REFRESH_TOKEN_AUDIENCE: a replica of 1.0.0 refuses the new refresh tokens (upgrade.md#refresh-tokens)',
  },
  {
    check: 'settings',
    status: 'warn',
    since: 'UserWords1769800000000',
    key: 'MFA_REQUIRED',
    harmful: (value) => value === 'enrolled',
    text: 'MFA_REQUIRED: 1.0.0 does not start with this value, so a roll-back needs another one',
  },
  {
    check: 'settings',
    status: 'warn',
    since: 'EventReceivers1770500000000',
    key: 'EVENT_RECEIVERS',
    harmful: (value) => value === 'on',
    text: 'EVENT_RECEIVERS: what happens at a replica of 1.0.0 reaches no receiver, so add them when none runs any more',
  },
  {
    check: 'settings',
    status: 'warn',
    since: 'LegacyLogins1770700000000',
    key: 'LEGACY_VERIFY_URL',
    harmful: (value) => value !== null,
    text: 'LEGACY_VERIFY_URL: a replica of 1.0.0 asks nobody, and counts each login of these users as a wrong password',
  },
];

/** @param pending none of them has run, or only some */
export function besideFormer(config: AppConfig, pending: readonly string[]): UpgradeFinding[] {
  // The value of a secret is not shown, and it may be the address of a system.
  const values = new Map(config.effective.rows.map(({ key, value, set }) => [key, value ?? (set ? '' : null)]));
  return rules
    .filter(({ since, key, harmful }) => pending.includes(since) && harmful(values.get(key) ?? null))
    .map(({ check, status, text }) => ({ check, status, text }));
}

/**
 * What the change of a key, a secret or a name in tokens ends.
 * @param file the settings of the running version, a line `NAME=value` for each
 */
export function comparedWith(file: string, config: AppConfig): UpgradeFinding[] {
  let former: string;
  try {
    former = readFileSync(file, 'utf8');
  } catch (error) {
    const text = `the file of --former-settings cannot be read (${(error as NodeJS.ErrnoException).code}): keys were not compared`;
    return [{ check: 'settings', status: 'unknown', text }];
  }
  const env = new SettingsReader(parseEnv(former));
  const systemUrl = env.text('SYSTEM_URL', '').replace(/\/+$/, '');
  // As in production: outside of it, a missing key would be made and stored.
  const jwt = readJwtSettings(env, { production: true, dataDir: '', systemUrl });
  const { dataKeys } = readKeySettings(env, true, '');
  const endsAll = [
    config.jwt.verification.every(({ kid }) => kid !== jwt.signing.kid) && jwt.signing.kid !== ''
      ? `the key that signs now is neither ${config.jwt.algorithm === 'HS256' ? 'JWT_SECRET' : 'JWT_PRIVATE_KEY'} nor one of JWT_PREVIOUS_KEYS`
      : '',
    config.jwt.issuer !== jwt.issuer && jwt.issuer !== '' ? 'JWT_ISSUER (or SYSTEM_URL) has changed' : '',
    config.jwt.audience !== jwt.audience ? 'JWT_AUDIENCE has changed' : '',
  ].filter((reason) => reason !== '');
  const findings: UpgradeFinding[] = endsAll.map((reason) => ({
    check: 'sessions',
    status: 'no',
    text: `${reason}: every session ends`,
  }));
  const lostKeys = dataKeys.filter((key) => !config.dataKeys.some((one) => one.equals(key)));
  if (lostKeys.length > 0) {
    const text =
      'DATA_ENCRYPTION_KEY lacks a key of now: authenticators and waiting mails cannot be opened, pending logins end';
    findings.push({ check: 'settings', status: 'no', text });
  }
  if (jwt.signing.kid === '' || dataKeys.length === 0) {
    const text = 'the former settings have no keys, for example because they are in files: keys were not compared';
    findings.push({ check: 'settings', status: 'unknown', text });
  }
  return findings;
}
