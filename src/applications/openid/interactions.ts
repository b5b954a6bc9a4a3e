import { Inject, Injectable } from '@nestjs/common';
import type { Interaction, Provider } from 'oidc-provider';
import { DomainError } from '../../shared/errors/domain-error';
import {
  accessTokenRevoked,
  applicationRefused,
  refusedAsItIs,
  interactionNotFound,
  youngSessionRequired,
} from '../../shared/errors/error-catalogue';
import { KeyRing } from '../../platform/crypto/key-ring';
import type { CurrentSession } from '../../sessions/current-session';
import { type LiveSession, LiveSessions } from '../../sessions/live-sessions';
import type { Application } from '../application.entity';
import { GroupMembers } from '../../groups/group-members';
import { admits } from '../application-access';
import { Applications } from '../applications.repository';
import { offeredScopes } from '../openid-scopes';
import { OidcRecords } from '../persistence/oidc-record.repository';
import { leadsBack } from './client-metadata';
import { asksForAccount, asksForConsent, authenticationOf, lackOf } from './demands';
import type { SignedIn } from './models';
import { openIdProvider } from './openid-endpoint';

/** An interaction in the browser that began it, with what its session lacks. */
interface Begun {
  readonly interaction: Interaction;
  readonly application: Application;
  readonly live: LiveSession;
  readonly lack: { readonly secondFactor: boolean; readonly fresh: boolean };
  readonly grant: Grant | undefined;
  readonly consent: boolean;
  readonly selectAccount: boolean;
}

type Grant = InstanceType<Provider['Grant']> & { credentialVersion?: number };

export interface InteractionView {
  readonly application: Application;
  readonly scopes: readonly string[];
  readonly consent: boolean;
  readonly selectAccount: boolean;
  readonly secondFactor: boolean;
}

/** The answers of the user to the questions of an interaction. */
export interface InteractionAnswers {
  readonly consent?: boolean | null;
  /** True: the user goes on with this account. */
  readonly selectAccount?: boolean | null;
}

/**
 * The sign-in of a user at an application, after the user has signed in here (docs/spec/extensions.md#j). The result is
 * stored in the interaction, and the browser goes back to the provider, which judges its own rules again.
 */
@Injectable()
export class Interactions {
  constructor(
    @Inject(openIdProvider) private readonly provider: Provider,
    private readonly records: OidcRecords,
    private readonly applications: Applications,
    private readonly sessions: LiveSessions,
    private readonly keys: KeyRing,
    private readonly members: GroupMembers,
  ) {}

  /** @throws DomainError APP_404001, APP_403001 */
  async describe(uid: string, browser: string | undefined, session: CurrentSession): Promise<InteractionView> {
    const begun = await this.begun(uid, browser, session);
    const { application, consent, selectAccount, lack } = begun;
    return { application, scopes: scopesOf(begun), consent, selectAccount, secondFactor: lack.secondFactor };
  }

  /**
   * @returns where the browser goes on
   * @throws DomainError APP_404001, APP_403001, AUTH_403002, APP_400001
   */
  async finish(
    uid: string,
    browser: string | undefined,
    session: CurrentSession,
    { consent, selectAccount }: InteractionAnswers,
  ): Promise<string> {
    const begun = await this.begun(uid, browser, session);
    // A refusal tells the application nothing about the user, so the session may lack what the application asks for.
    if (consent === false) return this.refuse(begun.interaction, 'the user has refused');
    // No grant can have such a scope, so the provider would lead back to the pages again and again.
    if (asksForMore(begun))
      return this.settle(begun.interaction, {
        error: 'invalid_scope',
        error_description: 'requested scope is not allowed',
      });
    const { secondFactor, fresh } = begun.lack;
    if (secondFactor || fresh) throw new DomainError(youngSessionRequired, { second_factor: secondFactor });
    // The page that asks for consent shows the account as well.
    const isAnswered = consent === true || (!begun.consent && (!begun.selectAccount || selectAccount === true));
    if (!isAnswered) throw new DomainError(refusedAsItIs);
    const grantId = await this.grant(begun, session);
    return this.settle(begun.interaction, {
      login: signedIn(session, begun.live),
      consent: { grantId },
      select_account: {},
    });
  }

  /** Another browser than the one that began knows the id at most, and finds nothing (login CSRF, fixation). */
  private async begun(uid: string, browser: string | undefined, session: CurrentSession): Promise<Begun> {
    const record = browser === undefined ? undefined : await this.records.find('Interaction', uid);
    const owner = record?.payload.browser;
    if (typeof owner !== 'string' || !this.keys.macMatches('oidc-browser', browser!, owner))
      throw new DomainError(interactionNotFound);
    const interaction = await this.provider.Interaction.find(uid);
    const application = await this.applications.find(String(interaction?.params.client_id));
    if (interaction === undefined || application === null) throw new DomainError(interactionNotFound);
    await this.assertLeadsBack(interaction, application);
    const { user, credentialVersion, payload } = session;
    if (!(await admits(application, user, () => this.members.groupsOf(user))))
      throw new DomainError(applicationRefused, {
        redirect_to: await this.refuse(interaction, 'the user may not use this application'),
      });
    const live = await this.sessions.find(payload.sid, { uid: user.uid, credentialVersion });
    if (live === undefined) throw new DomainError(accessTokenRevoked);
    const found = await this.records.findGrant(user.uid, application.id, credentialVersion);
    const grant = found && (await this.provider.Grant.find(String(found.payload.jti)));
    const lack = lackOf(interaction.params, record!.createdAt, live);
    const other = subjectOf(interaction.params.id_token_hint);
    return {
      ...{ interaction, application, live, grant },
      // The application asks for another user: only a new sign-in helps.
      lack: other === undefined || other === user.uid ? lack : { ...lack, fresh: true },
      consent: needsConsent(interaction, application, grant),
      selectAccount: asksForAccount(interaction.params, record!.createdAt, live),
    };
  }

  /** An address that was removed gets neither a code nor an error. An application that is disabled is no client. */
  private async assertLeadsBack({ params }: Interaction, { id }: Application): Promise<void> {
    const client = await this.provider.Client.find(id);
    if (client !== undefined && !leadsBack(client, params)) throw new DomainError(interactionNotFound);
  }

  private async grant(begun: Begun, { user, credentialVersion }: CurrentSession): Promise<string> {
    const { application, interaction } = begun;
    const grant: Grant = begun.grant ?? new this.provider.Grant({ accountId: user.uid, clientId: application.id });
    const scopes = scopesOf(begun);
    const own = scopes.filter((scope) => offeredScopes.includes(scope));
    if (own.length > 0) grant.addOIDCScope(own.join(' '));
    const others = scopes.filter((scope) => !offeredScopes.includes(scope));
    for (const resource of [interaction.params.resource ?? []].flat() as string[]) {
      if (others.length > 0) grant.addResourceScope(resource, others.join(' '));
    }
    grant.credentialVersion = credentialVersion;
    // eslint-disable-next-line no-restricted-syntax -- the method of the package; the adapter writes one statement
    return grant.save();
  }

  private refuse(interaction: Interaction, reason: string): Promise<string> {
    return this.settle(interaction, { error: 'access_denied', error_description: reason });
  }

  private async settle(interaction: Interaction, result: object): Promise<string> {
    // Another tab may have replaced the session of the browser since. The cookie of the interaction has decided.
    Object.assign(interaction, { result, session: undefined });
    await interaction.persist();
    return interaction.returnTo;
  }
}

const askedScopes = ({ params: { scope } }: Interaction): string[] =>
  typeof scope === 'string' ? scope.split(' ') : [];

const scopesOf = ({ interaction, application }: Pick<Begun, 'interaction' | 'application'>): string[] =>
  askedScopes(interaction).filter((one) => application.scopes.includes(one));

/**
 * Whether a scope of the provider is asked for that the application does not have. The package refuses such a request when it
 * begins, but not of an application without any such scope, nor when an administrator has taken the scope since.
 */
function asksForMore({ interaction, application }: Begun): boolean {
  return askedScopes(interaction).some((one) => offeredScopes.includes(one) && !application.scopes.includes(one));
}

/** A native application cannot prove who it is, so the user is asked at each sign-in (RFC 8252 §8.6), as for a device. */
function needsConsent(interaction: Interaction, application: Application, grant: Grant | undefined): boolean {
  if (application.type === 'native' || interaction.deviceCode !== undefined) return true;
  if (asksForConsent(interaction.params)) return true;
  if (application.firstParty) return false;
  const resources = [interaction.params.resource ?? []].flat() as string[];
  const own = new Set(grant?.getOIDCScope().split(' '));
  // What was allowed at one resource is not allowed at another one.
  const others = resources.map((one) => new Set(grant?.getResourceScope(one).split(' ')));
  return scopesOf({ interaction, application }).some((scope) =>
    offeredScopes.includes(scope) ? !own.has(scope) : others.length === 0 || others.some((known) => !known.has(scope)),
  );
}

function signedIn({ user, payload, credentialVersion }: CurrentSession, live: LiveSession): SignedIn {
  return { accountId: user.uid, sid: payload.sid, credentialVersion, ...authenticationOf(live) };
}

/** The provider has verified the token. */
function subjectOf(hint: unknown): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const { sub } = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString()) as { sub?: string };
  return sub;
}
