import { Injectable, Logger } from '@nestjs/common';
import { LoginJournal } from '../../../audit/login-journal';
import { ExternalRequests, type AnswerOfProvider, TryRefused } from '../../../identity-providers/external-requests';
import { ExternalSignInCounts } from '../../../identity-providers/external-sign-in-counts';
import {
  type ExternalPerson,
  ExternalSignIns,
  type TriedSignIn,
} from '../../../identity-providers/external-sign-ins.repository';
import { IdentityProviders } from '../../../identity-providers/identity-providers.repository';
import type { VerifiedAnswer } from '../../../identity-providers/provider-connection';
import { Database } from '../../../platform/database/database';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { externalAnswerRejected } from '../../../shared/errors/error-catalogue';
import { Random } from '../../../shared/random';
import type { User } from '../../../users/user.entity';
import { AccountRefused } from '../account-refused';
import { ExternalOwners } from './external-owners';
import { mappedClaims, wantedClaims } from './mapped-claims';

export interface ExternalCallback {
  readonly providerId: string;
  readonly query: URLSearchParams;
  /** The value of the browser's cookie. */
  readonly browser: string | undefined;
}

/** The code that the pages redeem, and where they lead afterwards. */
export interface ExternalCode {
  readonly code: string;
  readonly returnTo: string | undefined;
  /** The code shows an administrator what the provider says, and signs nobody in. */
  readonly isTry: boolean;
}

/** `GET /login/external/{id}/callback`: the browser comes back from the provider (docs/spec/extensions.md#k). */
@Injectable()
export class ExternalCallbackService {
  private readonly logger = new Logger('external');

  constructor(
    private readonly requests: ExternalRequests,
    private readonly owners: ExternalOwners,
    private readonly signIns: ExternalSignIns,
    private readonly providers: IdentityProviders,
    private readonly journal: LoginJournal,
    private readonly counts: ExternalSignInCounts,
    private readonly database: Database,
    private readonly random: Random,
  ) {}

  async receive(callback: ExternalCallback, client: ClientInfo): Promise<ExternalCode> {
    const { providerId, query, browser } = callback;
    try {
      const answer = await this.requests.answered(providerId, query, browser, wantedClaims); // LOGIN_401013, LOGIN_503002
      const person = mappedClaims(answer.provider, answer.verified.claims);
      if (answer.begun.tries !== undefined) return await this.tried(answer, person);
      const owner = await this.recorded(this.ownerOf(answer, person, client), person, client); // LOGIN_404001
      return await this.handOver(answer, person, owner);
    } catch (error) {
      if (error instanceof TryRefused) return this.kept(error.state, { refused: error.reason });
      await this.tell(error, providerId, client);
      throw error;
    }
  }

  /** Whoever confirms a session must be its user: nobody is bound or made. */
  private async ownerOf(
    { provider, begun, verified: { sub } }: AnswerOfProvider,
    person: ExternalPerson,
    client: ClientInfo,
  ): Promise<User> {
    if (begun.confirms === undefined) return this.owners.ownerOf(provider, sub, person, client);
    const owner = await this.owners.bound(provider, sub, client);
    if (owner?.uid !== begun.confirms) {
      throw new AccountRefused(new DomainError(externalAnswerRejected), owner ?? null);
    }
    return owner;
  }

  /** An administrator tries the provider: nobody is bound, made or signed in. */
  private async tried(
    { provider, state, begun, verified }: AnswerOfProvider,
    person: ExternalPerson,
  ): Promise<ExternalCode> {
    const owner = await this.owners.foreseen(provider, verified.sub, person);
    const mfa = provider.trustMfa && hasProvenTwoFactors(verified, begun.acrValues);
    return this.kept(state, { claims: verified.claims, person, mfa, owner });
  }

  private async kept(state: string, tried: TriedSignIn): Promise<ExternalCode> {
    const code = this.newCode();
    await this.signIns.keepTry(state, code, tried);
    return { code, returnTo: undefined, isTry: true };
  }

  private async handOver(
    { provider, state, begun, verified }: AnswerOfProvider,
    person: ExternalPerson,
    owner: User,
  ): Promise<ExternalCode> {
    const code = this.newCode();
    await this.signIns.answer(this.database, state, code, owner.uid, {
      ...{ sub: verified.sub, sid: verified.sid, person },
      mfa: provider.trustMfa && hasProvenTwoFactors(verified, begun.acrValues),
      askedAt: verified.authTime?.getTime(),
    });
    return { code, returnTo: begun.returnTo, isTry: false };
  }

  private newCode(): string {
    return this.random.bytes(32).toString('base64url');
  }

  /**
   * A person without an account is a refused login, as with a password. A name, an address or an external id of the claims can
   * belong to a user: the row has this `user_id`, so that the export and the erasure of the user find the name in it.
   */
  private async recorded(owner: Promise<User>, { loginName }: ExternalPerson, client: ClientInfo): Promise<User> {
    try {
      return await owner;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const userId = error instanceof AccountRefused ? (error.user?.uid ?? null) : null;
      const attempt = { userId, loginName: loginName ?? '', provider: 'oidc', mfa: null } as const;
      await this.journal.failed({ ...attempt, outcome: error.entry.code }, client);
      throw error;
    }
  }

  /** The log has the reason, which is a fixed word. The person gets the code alone. */
  private async tell(error: unknown, providerId: string, { requestId }: ClientInfo): Promise<void> {
    if (!(error instanceof DomainError)) return;
    const known = await this.providers.find(providerId).catch(() => null);
    if (known === null) return;
    const { reason } = (error.cause ?? {}) as { reason?: string };
    this.counts.add(known.id, error.entry.code);
    this.logger.warn(
      { requestId, identityProvider: known.id, code: error.entry.code, reason },
      'a sign-in at an identity provider was refused',
    );
  }
}

/** `mfa` is the name of RFC 8176. An `acr` counts only if the request has asked for it. */
const hasProvenTwoFactors = ({ amr, acr }: VerifiedAnswer, asked: readonly string[]): boolean =>
  amr.includes('mfa') || (acr !== undefined && asked.includes(acr));
