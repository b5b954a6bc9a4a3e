import type { Recorder } from './recorder';

type Call = (operationId: string, ask?: Parameters<Recorder['call']>[1]) => ReturnType<Recorder['call']>;

/** An administrator sends the events of a tenant to another system. Nothing listens at its address, so the test fails. */
export async function eventReceiversStory(call: Call, list: (operationId: string) => Promise<void>): Promise<void> {
  const siem = { id: 'siem', url: 'https://127.0.0.1:9/events' };
  await call('adminCreateEventReceiver', { body: { ...siem, types: ['user.*', 'login.failed'], tenants: ['acme'] } });
  await call('adminCreateEventReceiver', { body: { ...siem, types: ['user.unlock'] } });
  await list('adminListEventReceivers');
  const [parameters, unknown] = [{ id: 'siem' }, { id: 'unknown' }];
  await call('adminGetEventReceiver', { parameters });
  await call('adminGetEventReceiver', { parameters: unknown });
  await call('adminTestEventReceiver', { parameters });
  await call('adminTestEventReceiver', { parameters: unknown });
  await call('adminChangeEventReceiver', { parameters, body: { format: 'cloudevents', enabled: false } });
  await call('adminChangeEventReceiver', { parameters, body: {} });
  await call('adminRotateEventReceiverSecret', { parameters, body: { keep_old_seconds: 86_400 } });
  await call('adminRotateEventReceiverSecret', { parameters, body: { keep_old_seconds: -1 } });
  await call('adminReplayEventReceiver', { parameters, body: { from: '2026-03-02T10:00:00Z' } });
  await call('adminReplayEventReceiver', { parameters, body: {} });
  await call('adminDeleteEventReceiver', { parameters });
  await call('adminDeleteEventReceiver', { parameters });
}
