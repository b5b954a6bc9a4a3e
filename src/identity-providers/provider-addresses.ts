import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../platform/config/http-settings';
import { ServiceSettings } from '../platform/config/service-settings';

/** The addresses of this service that are registered at a provider. They begin with `SYSTEM_URL`, never with a Host header. */
@Injectable()
export class ProviderAddresses {
  constructor(
    private readonly settings: ServiceSettings,
    private readonly http: HttpSettings,
  ) {}

  readonly of = (id: string) => {
    const base = `${this.settings.systemUrl}${this.http.apiPrefix}/login/external/${id}`;
    return { redirect_uri: `${base}/callback`, backchannel_logout_uri: `${base}/backchannel-logout` };
  };
}
