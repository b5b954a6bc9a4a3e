import { Injectable } from '@nestjs/common';
import { type EventReceiver, EventReceivers, type ReceiverState, type ReceiverValues } from '../events/event-receivers';
import { ReceiverDelivery } from '../events/receiver-delivery';
import { mostReceivers } from '../events/receiver-limits';
import { ServiceSettings } from '../platform/config/service-settings';
import type { Transaction } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { TenantRepository } from '../users/tenant.repository';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { EntryNotFound } from './entries';
import {
  assertReceiverId,
  checkedReceiverFields,
  definedFields,
  newReceiverFields,
  type ReceiverFields,
  receiverProblem,
  ReceiverProblem,
} from './event-receiver-rules';

const secretBytes = 32;

/** The secret cannot be read again. */
export interface ReceiverWithSecret {
  readonly state: ReceiverState;
  readonly secret: string;
}

/** From when on events are sent once more: a time, or the id of an event. */
export interface ReplayFrom {
  readonly from?: Date;
  readonly event?: string;
}

/** Further receivers of events (docs/spec/extensions.md#e): only the root tenant and operators reach this service. */
@Injectable()
export class EventReceiverAdministration {
  constructor(
    private readonly receivers: EventReceivers,
    private readonly delivery: ReceiverDelivery,
    private readonly tenants: TenantRepository,
    private readonly changes: AdminChanges,
    private readonly settings: ServiceSettings,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  /** In the order of their ids. */
  list(): Promise<ReceiverState[]> {
    return this.receivers.list();
  }

  /** @throws EntryNotFound */
  async get(id: string): Promise<ReceiverState> {
    const state = await this.receivers.find(id);
    if (state === undefined) throw notFound(id);
    return state;
  }

  /**
   * The row of the root tenant is the gate of the limit: of two creations, the second one counts the first one.
   * @param chosen by an operator whose file names a secret (ADR 0045) @throws ReceiverProblem
   */
  async create(
    by: Authority,
    id: string,
    given: Partial<ReceiverFields>,
    chosen?: string,
  ): Promise<ReceiverWithSecret> {
    assertReceiverId(id);
    const values = this.checked(newReceiverFields(given)) as ReceiverValues;
    const [secret, position] = [chosen ?? this.newSecret(), await this.receivers.newest()];
    await this.changes.make(by, async ({ tx, record }) => {
      await this.tenants.holdRoot(tx);
      await this.assertTenants(tx, values.tenants);
      if ((await this.receivers.count(tx)) >= mostReceivers) {
        throw receiverProblem('id', `is one too many: there are ${mostReceivers} receivers`);
      }
      if (!(await this.receivers.insert(tx, { ...values, id, secret, position })))
        throw receiverProblem('id', 'is taken');
      await record('EVENT_RECEIVER_CREATED', { detail: { receiver: id, format: values.format } });
    });
    return { state: await this.get(id), secret };
  }

  /** @param given at least one field @throws EntryNotFound @throws ReceiverProblem */
  async change(by: Authority, id: string, given: Partial<ReceiverFields>): Promise<ReceiverState> {
    const values = this.checked(given);
    await this.changes.make(by, async ({ tx, record }) => {
      await this.assertTenants(tx, values.tenants);
      if (!(await this.receivers.change(tx, id, values))) throw notFound(id);
      const fields = Object.keys(definedFields(given)).join(' ');
      const enabled: Record<string, boolean> = given.enabled === undefined ? {} : { enabled: given.enabled };
      await record('EVENT_RECEIVER_CHANGED', { detail: { receiver: id, fields, ...enabled } });
    });
    return this.get(id);
  }

  /**
   * @param keepSeconds how long each request has a second signature, by the former secret
   * @throws EntryNotFound @throws ReceiverProblem when another rotation has won
   */
  async rotateSecret(by: Authority, id: string, keepSeconds: number, chosen?: string): Promise<ReceiverWithSecret> {
    const secret = chosen ?? this.newSecret();
    await this.changes.make(by, async ({ tx, record }) => {
      const read = await this.read(tx, id);
      const keepUntil = keepSeconds === 0 ? null : this.clock.secondsFromNow(keepSeconds);
      if (!(await this.receivers.rotateSecret(tx, read, secret, keepUntil))) {
        throw receiverProblem('id', 'has got another secret a moment ago');
      }
      await record('EVENT_RECEIVER_SECRET_ROTATED', { detail: { receiver: id, keep_old_seconds: keepSeconds } });
    });
    return { state: await this.get(id), secret };
  }

  /** @throws EntryNotFound */
  async remove(by: Authority, id: string): Promise<void> {
    await this.changes.make(by, async ({ tx, record }) => {
      if (!(await this.receivers.remove(tx, id))) throw notFound(id);
      await record('EVENT_RECEIVER_DELETED', { detail: { receiver: id } });
    });
  }

  /**
   * Sends the events of this receiver once more, from a time or an event on, with new ids.
   * @returns the state, whose `waiting` has them @throws EntryNotFound @throws ReceiverProblem
   */
  async replay(by: Authority, id: string, replay: ReplayFrom): Promise<ReceiverState> {
    const after = await this.placeBefore(replay);
    await this.changes.make(by, async ({ tx, record }) => {
      const read = await this.read(tx, id);
      if (!(await this.receivers.replay(tx, read, after))) {
        throw receiverProblem('id', 'has been changed a moment ago: try again');
      }
      const from: Record<string, string> = replay.event
        ? { event: replay.event }
        : { from: replay.from!.toISOString() };
      await record('EVENT_RECEIVER_REPLAYED', { detail: { receiver: id, ...from } });
    });
    return this.get(id);
  }

  /**
   * The audit row comes first, so that no request leaves the service without one.
   * @returns undefined when the receiver has accepted the event, or the reason @throws EntryNotFound
   */
  async test(by: Authority, id: string): Promise<string | undefined> {
    const { receiver } = await this.get(id);
    await this.changes.make(by, ({ record }) => record('EVENT_RECEIVER_TESTED', { detail: { receiver: id } }));
    return this.delivery.test(receiver);
  }

  /** Whether this is the current secret of the receiver. */
  hasSecret(id: string, secret: string): Promise<boolean> {
    return this.receivers.hasSecret(id, secret);
  }

  private async placeBefore({ from, event }: ReplayFrom): Promise<number> {
    if ((from === undefined) === (event === undefined))
      throw receiverProblem('from', 'or event must be given, not both');
    if (from !== undefined) return this.receivers.placeBefore(from);
    const place = isUuid(event!) ? await this.receivers.placeBeforeEvent(event) : undefined;
    if (place === undefined)
      throw receiverProblem('event', 'is no event that is kept: give the id of its first sending');
    return place;
  }

  private async read(tx: Transaction, id: string): Promise<EventReceiver> {
    const read = await this.receivers.read(tx, id);
    if (read === null) throw notFound(id);
    return read;
  }

  /** No tenant is ever deleted, so what exists now goes on existing. */
  private async assertTenants(tx: Transaction, ids: readonly string[] = []): Promise<void> {
    const problems: Record<string, string[]> = {};
    for (const [i, id] of ids.entries()) {
      if (await this.tenants.exists(tx, id)) continue;
      problems[`tenants[${i}]`] = [`tenants[${i}] is not the id of a tenant`];
    }
    if (Object.keys(problems).length > 0) throw new ReceiverProblem(problems);
  }

  private checked(given: Partial<ReceiverFields>): Partial<ReceiverValues> {
    return checkedReceiverFields(given, {
      production: this.settings.production,
      signsTokens: this.delivery.signsTokens,
    });
  }

  private newSecret(): string {
    return `whsec_${this.random.bytes(secretBytes).toString('base64')}`;
  }
}

const notFound = (id: string) => new EntryNotFound(`there is no receiver ${JSON.stringify(id)}`);
