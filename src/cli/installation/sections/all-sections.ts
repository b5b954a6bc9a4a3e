import type { INestApplicationContext, Type } from '@nestjs/common';
import { ApplicationAdministration } from '../../../admin/application-administration';
import { BrandAdministration } from '../../../admin/brand-administration';
import { Configuration } from '../../../admin/configuration';
import { EventReceiverAdministration } from '../../../admin/event-receiver-administration';
import { GroupAdministration } from '../../../admin/group-administration';
import { IdentityProviderAdministration } from '../../../admin/identity-provider-administration';
import { OrgUnits } from '../../../admin/org-units';
import { ProviderVerification } from '../../../admin/provider-verification';
import { Tenants } from '../../../admin/tenants';
import { ReceiverSettings } from '../../../events/receiver-settings';
import { Groups } from '../../../groups/groups.repository';
import { ProviderAddresses } from '../../../identity-providers/provider-addresses';
import { ServiceSettings } from '../../../platform/config/service-settings';
import type { Section } from '../section';
import { ApplicationSection } from './applications';
import { BrandSection } from './brand';
import { EventReceiverSection } from './event-receivers';
import { GroupSection } from './groups';
import { IdentityProviderSection } from './identity-providers';
import { OrgUnitSection } from './org-units';
import { SettingSection } from './settings';
import { TenantSection } from './tenants';

/** In the order in which they are applied: a section names objects of those before it. A new section is one more line. */
export function sectionsOf(context: Pick<INestApplicationContext, 'get'>): readonly Section[] {
  const of = <T>(type: Type<T> | (abstract new (...args: never[]) => T)): T => context.get(type, { strict: false });
  const { production } = of(ServiceSettings);
  return [
    new TenantSection(of(Tenants)),
    new OrgUnitSection(of(OrgUnits)),
    new GroupSection(of(GroupAdministration)),
    new SettingSection(of(Configuration)),
    new BrandSection(of(BrandAdministration)),
    new IdentityProviderSection(
      of(IdentityProviderAdministration),
      of(ProviderVerification),
      of(ProviderAddresses),
      production,
    ),
    new ApplicationSection(of(ApplicationAdministration), of(Groups), production),
    new EventReceiverSection(of(EventReceiverAdministration), {
      production,
      signsTokens: of(ReceiverSettings).signer !== undefined,
    }),
  ];
}
