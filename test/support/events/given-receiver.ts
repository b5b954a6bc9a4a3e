import { EventReceivers } from '../../../src/events/event-receivers';
import type { TestService } from '../app';
import { webhookSecret } from './webhook-receiver';

/** Stores a receiver that gets the events from now on. */
export async function givenEventReceiver({ app, database }: TestService, id: string): Promise<string> {
  const receivers = app.get(EventReceivers);
  const position = await receivers.newest();
  const row = { url: 'https://127.0.0.1:9/events', format: 'native' as const, types: [], tenants: [], audience: null };
  await database.transaction((tx) =>
    receivers.insert(tx, { ...row, id, enabled: true, secret: webhookSecret, position }),
  );
  return id;
}
