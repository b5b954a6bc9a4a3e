/** The rows, the filters and the changes of the administration, by short names. */
import type {
  AdminListAuditLogsData,
  AdminListLoginLogsData,
  AdminListMailsData,
  AdminListEventsData,
  AdminListOrgUnitsData,
  AdminListUsersData,
  AdminPasskeyItem,
  AdminSessionItem,
  AdminUser,
  AdminUserItem,
  AdminUserLogin,
  ApplicationClaimsResponse,
  ApplicationItem,
  ApplicationWithSecret,
  AuditLogItem,
  ChangeApplicationDto,
  ChangeUserDto,
  ConfigItem,
  CreateApplicationDto,
  CreateOrgUnitDto,
  CreateTenantDto,
  CreateUserDto,
  LoginLogItem,
  MailItem,
  EventItem,
  ReplayDto,
  ReplayResult,
  OrgUnitItem,
  OverviewResponse,
  SmtpTestResponse,
  TenantItem,
} from './generated/types.gen.js';

type Filters<Data extends { query?: object }> = Omit<NonNullable<Data['query']>, 'limit' | 'after'>;

export type {
  AdminUserItem as AdminUser,
  AdminUser as AdminUserDetail,
  AdminSessionItem as AdminSession,
  AdminPasskeyItem as AdminPasskey,
  AdminUserLogin,
  LoginLogItem as AdminLoginLog,
  AuditLogItem as AdminAuditLog,
  OverviewResponse as AdminOverview,
  ConfigItem as AdminSetting,
  SmtpTestResponse as AdminMailTest,
  MailItem as AdminMail,
  ApplicationItem as AdminApplication,
  ApplicationWithSecret as AdminApplicationWithSecret,
  ApplicationClaimsResponse as AdminApplicationClaims,
  CreateApplicationDto as NewAdminApplication,
  ChangeApplicationDto as AdminApplicationChange,
  EventItem as AdminEvent,
  ReplayDto as EventReplay,
  ReplayResult as AdminReplay,
  TenantItem as AdminTenant,
  OrgUnitItem as AdminOrgUnit,
  CreateUserDto as NewAdminUser,
  ChangeUserDto as AdminUserChange,
  CreateTenantDto as NewTenant,
  CreateOrgUnitDto as NewOrgUnit,
};
export type UserFilters = Filters<AdminListUsersData>;
export type LoginLogFilters = Filters<AdminListLoginLogsData>;
export type AuditLogFilters = Filters<AdminListAuditLogsData>;
export type MailFilters = Filters<AdminListMailsData>;
export type EventFilters = Filters<AdminListEventsData>;
export type OrgUnitFilters = Filters<AdminListOrgUnitsData>;
