import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The names of the claims that fill a user. `email` and `groups` may be absent: then nothing is followed. */
export interface ClaimNames {
  readonly login_name: string;
  readonly email?: string | null;
  readonly nickname?: string | null;
  readonly groups?: string | null;
}

/** A value as JSON. */
const json = {
  to: (value: unknown): string => JSON.stringify(value),
  from: (text: string): unknown => JSON.parse(text),
};

/** A row of `identity_providers`: where a company's people sign in (docs/spec/extensions.md#k). */
@Entity('identity_providers')
export class IdentityProvider {
  /** Chosen by the administrator: it is a part of the address to which the provider returns. */
  @PrimaryColumn('varchar', { length: 40 })
  id: string;

  @Column('varchar', { length: 255 })
  name: string;

  /** Exactly as the provider writes it in its tokens. */
  @Column('varchar', { length: 512 })
  issuer: string;

  @Column('varchar', { name: 'client_id', length: 255 })
  clientId: string;

  /** Sealed, see ProviderSecrets. Null for a public client. */
  @Column('text', { name: 'client_secret', nullable: true })
  clientSecret: string | null;

  @Column('datetime', { name: 'client_secret_expires', nullable: true })
  clientSecretExpires: Date | null;

  @Column('text', { transformer: json })
  scopes: string[];

  /** What the request asks for; one of them in the answer is the second factor (`trust_mfa`). */
  @Column('text', { name: 'acr_values', transformer: json })
  acrValues: string[];

  /** The domains of the addresses of its people, in lower case. */
  @Column('text', { transformer: json })
  domains: string[];

  @Column('text', { transformer: json })
  claims: ClaimNames;

  /** The claim that equals `users.external_id` of a user who was made before the first sign-in. */
  @Column('varchar', { name: 'match_claim', length: 255, nullable: true })
  matchClaim: string | null;

  /** Where new users are made. */
  @Column('varchar', { name: 'tenant_id', length: 64 })
  tenantId: string;

  /** Whether the first sign-in makes a user. */
  @Column('boolean')
  jit: boolean;

  @Column('boolean', { name: 'trust_mfa' })
  trustMfa: boolean;

  /** Whether the sign-in page shows it to everybody. */
  @Column('boolean')
  listed: boolean;

  @Column('boolean')
  enabled: boolean;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  @Column('datetime', { name: 'changed_at' })
  changedAt: Date;

  /** Increased to lock the row until the end of a transaction, also for the other nodes of a cluster (ADR 0029). */
  @Column('integer', { default: 0, select: false })
  held?: number;
}
