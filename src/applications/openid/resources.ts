import type { Client, KoaContextWithOIDC, Provider, ResourceServer } from 'oidc-provider';
import { offeredScopes } from '../openid-scopes';
import type { ProviderPorts } from './ports';

/** As many as an application has in `audience`. */
const mostResources = 20;

type ResourcePorts = Pick<ProviderPorts, 'reads' | 'settings' | 'jwt' | 'library'>;

/** The resource that an application asks a token for (RFC 8707). @throws InvalidTarget when it is not in its `audience` */
export async function resourceServerOf(
  { reads, settings, jwt, library }: ResourcePorts,
  ctx: KoaContextWithOIDC,
  resource: string,
  client: Client,
): Promise<ResourceServer> {
  const { InvalidTarget } = library.errors;
  // The package asks for each entry of the request, also a repeated one.
  if ([ctx.oidc.params?.resource].flat().length > mostResources) throw new InvalidTarget();
  const application = await reads.application(client.clientId);
  if (application?.audience.includes(resource) !== true) throw new InvalidTarget();
  const scope = application.scopes.filter((one) => !offeredScopes.includes(one)).join(' ');
  return {
    scope,
    audience: resource,
    accessTokenFormat: 'jwt',
    accessTokenTTL: jwt.accessTtlSeconds,
    jwt: { sign: { alg: settings.keys[0].algorithm } },
  };
}

interface Consumable {
  readonly resource?: string | readonly string[];
  /** Of a device whose user has refused. */
  readonly error?: string;
  consume(): Promise<void>;
}

/**
 * The package uses up a code or a refresh token, and only then looks at the resource of the new access token. The application
 * would lose the token by a wrong `resource`, and its next try would end the grant as a theft. So the resource is compared before. A
 * device whose user has refused learns that, whatever resource it names.
 */
export function refuseTargetsFirst(provider: Provider, ports: ResourcePorts): void {
  const { library } = ports;
  for (const { prototype } of [provider.AuthorizationCode, provider.DeviceCode, provider.RefreshToken]) {
    const { consume } = prototype as unknown as Consumable;
    Object.assign(prototype, {
      async consume(this: Consumable) {
        if (this.error !== undefined) return consume.call(this);
        const ctx = library.Provider.ctx!;
        const granted = [this.resource ?? []].flat();
        const asked = [ctx.oidc.params?.resource ?? granted].flat() as string[];
        if (asked.length > 1 || asked.some((one) => !granted.includes(one))) throw new library.errors.InvalidTarget();
        for (const one of asked) await resourceServerOf(ports, ctx, one, ctx.oidc.client!);
        await consume.call(this);
      },
    });
  }
}
