import type { ReactNode } from 'react';
import { issuerUrl } from '../page-settings';
import { useTexts } from './i18n/texts';
import { ApplicationPage } from './pages/application-page';
import { ApplicationsPage } from './pages/applications-page';
import { AuditPage } from './pages/audit-page';
import { BrandPage } from './pages/brand-page';
import { EventReceiverPage } from './pages/event-receiver-page';
import { EventReceiversPage } from './pages/event-receivers-page';
import { EventsPage } from './pages/events-page';
import { IdentityProviderPage } from './pages/identity-provider-page';
import { IdentityProvidersPage } from './pages/identity-providers-page';
import { GroupPage } from './pages/group-page';
import { GroupsPage } from './pages/groups-page';
import { ImportUsersPage } from './pages/import-users-page';
import { AllSettingsPage } from './pages/all-settings-page';
import { LoginsPage } from './pages/logins-page';
import { MailSettingsPage } from './pages/mail-settings-page';
import { MailsPage } from './pages/mails-page';
import { NewApplicationPage } from './pages/new-application-page';
import { NewEventReceiverPage } from './pages/new-event-receiver-page';
import { NewIdentityProviderPage } from './pages/new-identity-provider-page';
import { NewUserPage } from './pages/new-user-page';
import { OffboardingPage } from './pages/offboarding-page';
import { OverviewPage } from './pages/overview-page';
import { PolicyPage } from './pages/policy-page';
import { ReceiptPage } from './pages/receipt-page';
import { TenantPage } from './pages/tenant-page';
import { TenantsPage } from './pages/tenants-page';
import { UserPage } from './pages/user-page';
import { UsersPage } from './pages/users-page';
import { EmptyState } from './parts/states';
import { hrefOf, usePlace } from './place';
import { useViewer } from './viewer';

/** The page of a place. The key makes a new page for another user or tenant. */
export function Routes(): ReactNode {
  const { parts, path } = usePlace();
  const [area, id, part] = parts;
  const { me, receivers, role, root, writes } = useViewer();
  if (role === 'help_desk') {
    if (area === undefined) return <UsersPage />;
    if (area !== 'users' && !(root && area === 'mails')) return <Missing />;
    if (part === 'offboarding') return <Missing />;
  }
  if (!writes && id === 'new') return <Missing />;
  if (issuerUrl !== '' && area === 'users' && id !== undefined && part === 'logouts' && parts.length === 3)
    return <ReceiptPage key={path} uid={id} />;
  if (area === 'users' && id !== undefined && part === 'offboarding' && parts.length === 3)
    return <OffboardingPage key={path} uid={id} />;
  if (parts.length > 2) return <Missing />;
  switch (area) {
    case undefined:
      return <OverviewPage />;
    case 'users':
      if (id === undefined) return <UsersPage />;
      if (id === 'import') return <ImportUsersPage />;
      return id === 'new' ? <NewUserPage /> : <UserPage key={path} uid={id} />;
    case 'groups':
      return id === undefined ? <GroupsPage /> : <GroupPage key={path} id={id} />;
    case 'logins':
      return <LoginsPage />;
    case 'audit':
      return <AuditPage />;
    case 'mails':
      return <MailsPage />;
    case 'events':
      return <EventsPage />;
    case 'tenants':
      return id === undefined ? <TenantsPage /> : <TenantPage key={path} id={id} />;
    case 'brand':
      return <BrandPage key={path} tenant={id ?? (root ? undefined : (me.tenant_id ?? undefined))} />;
    case 'applications':
      if (issuerUrl === '') return <Missing />;
      if (id === undefined) return <ApplicationsPage />;
      return id === 'new' ? <NewApplicationPage /> : <ApplicationPage key={path} id={id} />;
    case 'identity-providers':
      if (id === undefined) return <IdentityProvidersPage />;
      return id === 'new' ? <NewIdentityProviderPage /> : <IdentityProviderPage key={path} id={id} />;
    case 'event-receivers':
      if (!receivers) return <Missing />;
      if (id === undefined) return <EventReceiversPage />;
      return id === 'new' ? <NewEventReceiverPage /> : <EventReceiverPage key={path} id={id} />;
    case 'settings':
      if (id === 'password') return <PolicyPage />;
      if (id === 'all') return <AllSettingsPage />;
      return id === 'mail' ? <MailSettingsPage /> : <Missing />;
    default:
      return <Missing />;
  }
}

function Missing(): ReactNode {
  const { missing } = useTexts();
  return (
    <EmptyState title={missing.title} text={missing.text} heading>
      <a className="primary" href={hrefOf('/')}>
        {missing.back}
      </a>
    </EmptyState>
  );
}
