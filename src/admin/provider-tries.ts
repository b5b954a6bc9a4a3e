import { Injectable } from '@nestjs/common';
import { ExternalRequests } from '../identity-providers/external-requests';
import { ExternalSignIns, type TriedSignIn } from '../identity-providers/external-sign-ins.repository';
import { DomainError } from '../shared/errors/domain-error';
import { routeNotFound } from '../shared/errors/error-catalogue';
import { UsersRepository } from '../users/users.repository';
import { AdminChanges } from './admin-changes';
import type { Administrator } from './authority';
import { EntryNotFound } from './entries';

export interface ProviderTry {
  readonly tried: TriedSignIn;
  /** The login name of the account that is meant or in the way. */
  readonly loginName: string | null;
}

/**
 * An administrator signs in at a provider once and sees what it says, also before anybody else can (docs/spec/extensions.md#k).
 * Nobody is bound or made, and no session begins. What the provider says is kept encrypted for a minute, until it is read.
 */
@Injectable()
export class ProviderTries {
  constructor(
    private readonly requests: ExternalRequests,
    private readonly signIns: ExternalSignIns,
    private readonly users: UsersRepository,
    private readonly changes: AdminChanges,
  ) {}

  /**
   * @param browser the value of the cookie of this browser
   * @returns the address at the provider @throws EntryNotFound @throws DomainError LOGIN_503002
   */
  async begin(by: Administrator, id: string, browser: string): Promise<string> {
    const wanted = { providerId: id, browser, returnTo: undefined, confirms: undefined, tries: by.actor.id };
    const url = await this.requests.begin(wanted).catch((error: unknown) => {
      throw error instanceof DomainError && error.entry === routeNotFound ? notFound(id) : error;
    });
    await this.changes.make(by, ({ record }) => record('IDENTITY_PROVIDER_TRIED', { detail: { provider: id } }));
    return url;
  }

  /** @throws EntryNotFound for a code that is unknown, read before, older than a minute, or of another administrator */
  async read(by: Administrator, id: string, code: string): Promise<ProviderTry> {
    const tried = await this.signIns.redeemTry(code, id, by.actor.id);
    if (tried === undefined) throw new EntryNotFound('there is no such try');
    const userId = 'owner' in tried ? tried.owner.userId : null;
    const user = userId === null ? null : await this.users.findByUid(userId);
    return { tried, loginName: user?.loginName ?? null };
  }
}

const notFound = (id: string) => new EntryNotFound(`there is no identity provider ${JSON.stringify(id)}`);
