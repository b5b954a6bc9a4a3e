import { Init1760000000000 } from './1760000000000-init';
import { AuditActor1763800000000 } from './1763800000000-audit-actor';
import { DirectoryIdentity1764000000000 } from './1764000000000-directory-identity';
import { Sessions1764100000000 } from './1764100000000-sessions';
import { RecoveryCodesAndDevices1764200000000 } from './1764200000000-recovery-codes-and-devices';
import { PasswordNotices1764300000000 } from './1764300000000-password-notices';
import { Passkeys1764400000000 } from './1764400000000-passkeys';
import { EventOutbox1764500000000 } from './1764500000000-event-outbox';
import { Administration1764600000000 } from './1764600000000-administration';
import { LogSearch1764700000000 } from './1764700000000-log-search';
import { ServiceClients1764800000000 } from './1764800000000-service-clients';
import { OwnFactors1764900000000 } from './1764900000000-own-factors';
import { MailOwners1764950000000 } from './1764950000000-mail-owners';
import { ImportedHashes1765000000000 } from './1765000000000-imported-hashes';
import { HeldRows1765300000000 } from './1765300000000-held-rows';
import { NicknameKey1766900000000 } from './1766900000000-nickname-key';
import { SessionIndexes1767000000000 } from './1767000000000-session-indexes';
import { EventReplay1767300000000 } from './1767300000000-event-replay';
import { LogRequestIds1767400000000 } from './1767400000000-log-request-ids';
import { RevocationRuns1767500000000 } from './1767500000000-revocation-runs';
import { RefreshTokenAudience1767600000000 } from './1767600000000-refresh-token-audience';
import { PendingReauthentications1767620000000 } from './1767620000000-pending-reauthentications';
import { UserLanguage1768000000000 } from './1768000000000-user-language';
import { Proofs1769000000000 } from './1769000000000-proofs';
import { Applications1769100000000 } from './1769100000000-applications';
import { ProvenAddresses1769200000000 } from './1769200000000-proven-addresses';
import { IdentityProviders1769300000000 } from './1769300000000-identity-providers';
import { Groups1769400000000 } from './1769400000000-groups';
import { ScimClients1769500000000 } from './1769500000000-scim-clients';
import { Offboardings1769600000000 } from './1769600000000-offboardings';
import { UserRoles1769700000000 } from './1769700000000-user-roles';
import { UserWords1769800000000 } from './1769800000000-user-words';
import { LogLoginNames1770200000000 } from './1770200000000-log-login-names';
import { Brands1770300000000 } from './1770300000000-brands';
import { EventReceivers1770500000000 } from './1770500000000-event-receivers';
import { LegacyLogins1770700000000 } from './1770700000000-legacy-logins';
import { EnabledAt1770800000000 } from './1770800000000-enabled-at';
import { MailUrgency1770900000000 } from './1770900000000-mail-urgency';
import type { RepeatableMigration } from './repeatable';

/** All migrations, in running order. A list of classes works in jest, the build and the image. A glob does not. */
export const migrations: (new () => RepeatableMigration)[] = [
  Init1760000000000,
  AuditActor1763800000000,
  DirectoryIdentity1764000000000,
  Sessions1764100000000,
  RecoveryCodesAndDevices1764200000000,
  PasswordNotices1764300000000,
  Passkeys1764400000000,
  EventOutbox1764500000000,
  Administration1764600000000,
  LogSearch1764700000000,
  ServiceClients1764800000000,
  OwnFactors1764900000000,
  MailOwners1764950000000,
  ImportedHashes1765000000000,
  HeldRows1765300000000,
  NicknameKey1766900000000,
  SessionIndexes1767000000000,
  EventReplay1767300000000,
  LogRequestIds1767400000000,
  RevocationRuns1767500000000,
  RefreshTokenAudience1767600000000,
  PendingReauthentications1767620000000,
  UserLanguage1768000000000,
  Proofs1769000000000,
  Applications1769100000000,
  ProvenAddresses1769200000000,
  IdentityProviders1769300000000,
  Groups1769400000000,
  ScimClients1769500000000,
  Offboardings1769600000000,
  UserRoles1769700000000,
  UserWords1769800000000,
  LogLoginNames1770200000000,
  Brands1770300000000,
  EventReceivers1770500000000,
  LegacyLogins1770700000000,
  EnabledAt1770800000000,
  MailUrgency1770900000000,
];
