import { Column, Entity, PrimaryColumn } from 'typeorm';

/** `web` and `service` keep a secret; `spa` and `native` cannot (RFC 6749 section 2.1). `service` has no users. */
export type ApplicationType = 'web' | 'spa' | 'native' | 'service';

/** A list of texts as JSON. */
const list = {
  to: (values: readonly string[]): string => JSON.stringify(values),
  from: (json: string): string[] => JSON.parse(json) as string[],
};

/** A row of `applications`: an application whose users sign in here (docs/spec/extensions.md#j). */
@Entity('applications')
export class Application {
  /** Also the `client_id` of OAuth 2.0. */
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { length: 255 })
  name: string;

  @Column('varchar', { length: 16 })
  type: ApplicationType;

  /** SHA-256 in hexadecimal. The secret has 256 random bits, so a slow hash would protect nothing more. */
  @Column('varchar', { name: 'secret_hash', length: 64, nullable: true })
  secretHash: string | null;

  @Column('varchar', { name: 'old_secret_hash', length: 64, nullable: true })
  oldSecretHash: string | null;

  /** Until then the former secret works as well. */
  @Column('datetime', { name: 'old_secret_expires', nullable: true })
  oldSecretExpires: Date | null;

  @Column('text', { name: 'redirect_uris', transformer: list })
  redirectUris: string[];

  @Column('text', { name: 'post_logout_redirect_uris', transformer: list })
  postLogoutRedirectUris: string[];

  @Column('varchar', { name: 'backchannel_logout_uri', length: 2048, nullable: true })
  backchannelLogoutUri: string | null;

  @Column('text', { transformer: list })
  scopes: string[];

  /** The resources for which it may ask tokens (RFC 8707). */
  @Column('text', { transformer: list })
  audience: string[];

  /** Of the company itself: its users are not asked for consent. */
  @Column('boolean', { name: 'first_party' })
  firstParty: boolean;

  /** Ids of tenants; empty: everybody. */
  @Column('text', { name: 'allowed_tenants', transformer: list })
  allowedTenants: string[];

  /** Ids of groups; empty: everybody. */
  @Column('text', { name: 'allowed_groups', transformer: list })
  allowedGroups: string[];

  @Column('varchar', { name: 'logo_url', length: 2048, nullable: true })
  logoUrl: string | null;

  /** Where its users begin: the tile on the account page leads there. */
  @Column('varchar', { length: 2048, nullable: true })
  uri: string | null;

  @Column('boolean')
  enabled: boolean;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  @Column('datetime', { name: 'changed_at' })
  changedAt: Date;
}
