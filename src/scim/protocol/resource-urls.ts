import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../../platform/config/http-settings';
import { ServiceSettings } from '../../platform/config/service-settings';

export const scimPath = '/scim/v2';

/** Addresses of resources, with `SYSTEM_URL`, whatever host the client asked. */
@Injectable()
export class ResourceUrls {
  private readonly base: string;

  constructor({ systemUrl }: ServiceSettings, { apiPrefix }: HttpSettings) {
    this.base = `${systemUrl.replace(/\/+$/, '')}${apiPrefix}${scimPath}`;
  }

  of(resource: string, id?: string): string {
    return `${this.base}/${resource}${id === undefined ? '' : `/${id}`}`;
  }
}
