import { operatorAuthority } from '../../../admin/authority';
import type { EventReceiverAdministration } from '../../../admin/event-receiver-administration';
import {
  assertReceiverId,
  checkedReceiverFields,
  newReceiverFields,
  type ReceiverFields,
} from '../../../admin/event-receiver-rules';
import { receiverView } from '../../../admin/event-receiver-views';
import { isSigningSecret } from '../../../platform/config/signing-secret';
import { type Entry, entriesOf, type Shape } from '../entries';
import {
  asStored,
  assertKnownTenant,
  changed,
  checked,
  differing,
  made,
  notExported,
  type PlanInput,
  type Section,
  type Step,
} from '../section';

type Given = Partial<ReceiverFields> & { readonly id: string; readonly secret?: string | null };

const shape = {
  ...{ id: 'text', url: 'text', format: 'text', types: 'texts', tenants: 'texts' },
  ...{ audience: 'text or null', enabled: 'flag', secret: 'secret' },
} as const satisfies Shape;

/** Further receivers of events, without how far they have got. */
export class EventReceiverSection implements Section {
  readonly name = 'event_receivers';

  constructor(
    private readonly receivers: EventReceiverAdministration,
    private readonly place: { readonly production: boolean; readonly signsTokens: boolean },
  ) {}

  async plan(input: PlanInput): Promise<Step[]> {
    const stored = new Map((await this.exported()).map((receiver) => [receiver.id as string, receiver]));
    const form = { shape, required: ['id', 'url'], keyOf: ({ id }: Given) => id };
    const steps: Step[] = [];
    for (const { at, given } of entriesOf<Given>(input.given, this.name, form, input.report)) {
      const step = await this.step({ at, given: asStored(given, shape) }, stored.get(given.id), input);
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  async exported(): Promise<Record<string, unknown>[]> {
    return (await this.receivers.list()).map((state) => {
      const view: Readonly<Record<string, unknown>> = { ...receiverView(state) };
      const names = Object.keys(shape).filter((name) => name !== 'secret');
      return { ...Object.fromEntries(names.map((name) => [name, view[name]])), secret: notExported };
    });
  }

  private async step(
    { at, given: { id, secret: reference, ...fields } }: Entry<Given>,
    current: Record<string, unknown> | undefined,
    input: PlanInput,
  ): Promise<Step | undefined> {
    const { report, known } = input;
    await checked(at, report, () => assertReceiverId(id));
    await checked(at, report, () => checkedReceiverFields(current ? fields : newReceiverFields(fields), this.place));
    fields.tenants?.forEach((tenant, i) => assertKnownTenant(tenant, [...at, 'tenants', i], known, report));
    const secret = this.secret(reference, [...at, 'secret'], current === undefined, input);
    const another = secret !== undefined && !(current && (await this.receivers.hasSecret(id, secret)));
    const differences = {
      ...(current === undefined ? made(fields) : differing(fields, current)),
      ...(another && { secret: changed(current === undefined ? null : notExported, secret, true) }),
    };
    if (Object.keys(differences).length === 0) return undefined;
    return {
      ...{ section: this.name, id, action: current === undefined ? 'create' : 'change', fields: differences },
      apply: async () => {
        if (current === undefined) return this.receivers.create(operatorAuthority, id, fields, secret);
        const names = Object.keys(differences).filter((name) => name !== 'secret') as (keyof ReceiverFields)[];
        const change = Object.fromEntries(names.map((name) => [name, fields[name]]));
        if (names.length > 0) await this.receivers.change(operatorAuthority, id, change);
        if (another) await this.receivers.rotateSecret(operatorAuthority, id, 0, secret);
        return undefined;
      },
    };
  }

  private secret(
    reference: string | null | undefined,
    at: Entry<Given>['at'],
    isNew: boolean,
    { report, secrets }: PlanInput,
  ): string | undefined {
    if (reference === null || reference === undefined || reference === notExported) {
      if (isNew || reference === null) report(at, 'is required: give a reference such as ${ENV:NAME} or file:PATH');
      return undefined;
    }
    const secret = secrets.read(reference, at, report);
    if (secret === undefined || isSigningSecret(secret)) return secret;
    report(at, 'must name whsec_ and 24 to 64 random bytes in base64');
    return undefined;
  }
}
