import { writeFileSync } from 'node:fs';
import { receiverLimits } from '../../src/events/receiver-limits';
import { recordedExamples, recordedFile } from '../../src/openapi/document/recorded-examples';
import { TestService } from '../support/app';
import { contract } from '../support/contract';
import { testReceiverLimits } from '../support/events/event-replica';
import { accountStory } from '../support/examples/account-story';
import { administrationStory } from '../support/examples/administration-story';
import { applicationsStory } from '../support/examples/applications-story';
import { Recorder } from '../support/examples/recorder';
import { passwordStory, portal, signInStory } from '../support/examples/sign-in-story';
import { Smtp } from '../support/servers/smtp';

// No automatic polls: how far a receiver is does not depend on the moment.
Object.assign(receiverLimits, testReceiverLimits);

/** `npm run openapi:examples` sets it. */
const recording = process.env.RECORD_EXAMPLES === 'true';

describe('the examples of the OpenAPI document', () => {
  let smtp: Smtp;
  let service: TestService;
  beforeAll(async () => {
    smtp = await Smtp.start();
    // Mails wait in the outbox, where the stories read their codes.
    smtp.refuse(451);
    service = await TestService.start({
      MFA_REQUIRED: 'true',
      SMTP_URL: `${smtp.url}?tls=none`,
      SYSTEM_URL: portal,
      ADMIN_API: 'on',
      OIDC: 'on',
      EVENT_RECEIVERS: 'on',
      MFA_TRUSTED_DEVICE_DAYS: '30',
      BRAND_NAME: 'Example Corp',
    });
  });
  afterAll(async () => {
    await service.stop();
    await smtp.stop();
  });

  it('are what the service answers: run npm run openapi:examples after a change', async () => {
    const recorder = new Recorder(service);
    const signedIn = await signInStory(recorder);
    await passwordStory(recorder);
    await administrationStory(recorder, signedIn.alice, smtp);
    await applicationsStory(recorder, signedIn.access);
    await accountStory(recorder, signedIn);
    const answered = Object.fromEntries([...recorder.exchanges].sort(([one], [other]) => (one < other ? -1 : 1)));
    if (recording) writeFileSync(recordedFile, `${JSON.stringify(answered, undefined, 2)}\n`);
    expect(answered).toEqual(recordedExamples());
    expect(Object.keys(answered)).toEqual(operationIds().sort());
  });
});

const operationIds = (): string[] =>
  Object.values(contract.paths).flatMap((path) =>
    Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
  );
