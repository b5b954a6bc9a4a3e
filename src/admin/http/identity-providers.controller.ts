import { Body, Controller, Param, Query, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { DoneResponse } from '../../platform/http/done-response';
import { DomainError } from '../../shared/errors/domain-error';
import { notFoundForCaller, refusedAsItIs, requestInvalid } from '../../shared/errors/error-catalogue';
import type { Authority } from '../authority';
import { AdminChange, AdminGet, AdminList } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { listed, type Page, type Reader, Streamed, streamNote } from '../frame/lists';
import { IdentityProviderAdministration, type ListedProvider } from '../identity-provider-administration';
import { definedFields } from '../identity-provider-rules';
import { providerView } from '../identity-provider-views';
import { ProviderAddresses } from '../../identity-providers/provider-addresses';
import {
  ChangeIdentityProviderDto,
  CreateIdentityProviderDto,
  IdentityProviderItem,
  IdentityProviderPage,
  IdentityProvidersQuery,
} from './identity-providers.dto';
import { refused } from './refusals';

/** The identity providers at which companies' people sign in (docs/spec/extensions.md#k). */
@ApiTags('admin')
@Controller('admin')
export class AdminIdentityProvidersController {
  constructor(
    private readonly providers: IdentityProviderAdministration,
    private readonly addresses: ProviderAddresses,
  ) {}

  @AlsoFor('auditor')
  @AdminList('identity-providers', 'identity-providers.read', IdentityProviderPage)
  @ApiOperation({
    ...{ operationId: 'adminListIdentityProviders', summary: 'The identity providers', description: streamNote },
  })
  async list(
    @Query() query: IdentityProvidersQuery,
    @Streamed() streamed: Reader | undefined,
  ): Promise<Page<IdentityProviderItem> | StreamableFile> {
    const all = await this.providers.list();
    return listed(query, streamed, ['string'], (limit, after) => {
      const rest = all.filter(({ provider }) => after === undefined || provider.id > String(after[0]));
      const rows = rest.slice(0, limit);
      const next = rest.length > limit ? ([rows.at(-1)!.provider.id] as const) : null;
      return Promise.resolve({ items: rows.map((row) => this.view(row)), next });
    });
  }

  @AdminChange('POST', 'identity-providers', 'identity-providers.write', IdentityProviderItem)
  @ApiOperation({
    operationId: 'adminCreateIdentityProvider',
    summary: 'Add an identity provider',
    description:
      'The service asks the issuer for its discovery document first. COMMON_400001 says what does not verify.',
  })
  async create(@Body() body: CreateIdentityProviderDto, @Caller() by: Authority): Promise<IdentityProviderItem> {
    const { id, ...fields } = body;
    return this.view(await this.providers.create(by, id, fields).catch(refused));
  }

  @AlsoFor('auditor')
  @AdminGet('identity-providers/:id', 'identity-providers.read', IdentityProviderItem, notFoundForCaller)
  @ApiOperation({ operationId: 'adminGetIdentityProvider', summary: 'One identity provider, without its secret' })
  async one(@Param('id') id: string): Promise<IdentityProviderItem> {
    return this.view(await this.providers.get(id).catch(refused));
  }

  @AdminChange(
    'PATCH',
    'identity-providers/:id',
    'identity-providers.write',
    IdentityProviderItem,
    notFoundForCaller,
    refusedAsItIs,
  )
  @ApiOperation({
    operationId: 'adminChangeIdentityProvider',
    summary: 'Change the given fields of an identity provider',
    description: 'APP_400001 for another issuer while the provider has users. Sessions that have begun go on.',
  })
  async change(
    @Param('id') id: string,
    @Body() body: ChangeIdentityProviderDto,
    @Caller() by: Authority,
  ): Promise<IdentityProviderItem> {
    if (Object.keys(definedFields(body)).length === 0) {
      throw new DomainError(requestInvalid, { fields: { body: ['body names no field'] } });
    }
    return this.view(await this.providers.change(by, id, body).catch(refused));
  }

  @AdminChange(
    'DELETE',
    'identity-providers/:id',
    'identity-providers.write',
    DoneResponse,
    notFoundForCaller,
    refusedAsItIs,
  )
  @ApiOperation({
    operationId: 'adminDeleteIdentityProvider',
    summary: 'Delete an identity provider that has no users',
    description: 'APP_400001 while it has users.',
  })
  async remove(@Param('id') id: string, @Caller() by: Authority): Promise<DoneResponse> {
    await this.providers.remove(by, id).catch(refused);
    return { result: true };
  }

  private view(row: ListedProvider): IdentityProviderItem {
    return providerView(row, this.addresses);
  }
}
