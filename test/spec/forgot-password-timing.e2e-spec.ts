import { DataSource } from 'typeorm';
import { MailDelivery } from '../../src/mail/smtp/mail-delivery';
import { TestService } from '../support/app';
import { listStatements } from '../support/count-statements';
import { webhookSecret } from '../support/events/webhook-receiver';
import { eventually } from '../support/servers/eventually';

describe('the time of an answer does not reveal whether an account exists (W12)', () => {
  it('the answer does not wait for a mail server that is silent (T136, T245)', async () => {
    const service = await TestService.start({ SMTP_URL: 'smtp://127.0.0.1:9' }, { workers: true });
    try {
      let conversations = 0;
      // No SMTP conversation ends by itself, so a request that waited for one would exceed the time-out of this test.
      jest
        .spyOn(service.app.get(MailDelivery, { strict: false }), 'deliver')
        .mockImplementation((_id, _mail, signal) => {
          conversations++;
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
        });
      for (let n = 0; n < 5; n++) {
        await service.givenUser(`user${n}`);
        expect((await service.post('/forget-password', { email: `user${n}@example.com` })).status).toBe(200);
      }
      await eventually(() => conversations > 0, { what: 'the mail server is asked' });
    } finally {
      await service.stop();
    }
  });

  /**
   * Statements are counted, not timed. The noise of a busy machine hides one statement from a test, but not from an
   * attacker who asks a thousand times.
   */
  it.each([
    ['without events', {}],
    ['with events for other systems', { WEBHOOK_URL: 'http://127.0.0.1:9/hook', WEBHOOK_SECRET: webhookSecret }],
    ['with further receivers of events', { EVENT_RECEIVERS: 'on' }],
    [
      'with a webhook and further receivers',
      { WEBHOOK_URL: 'http://127.0.0.1:9/hook', WEBHOOK_SECRET: webhookSecret, EVENT_RECEIVERS: 'on' },
    ],
  ])(
    '%s, HIDE_ACCOUNT_EXISTENCE: a known and an unknown address cause as many reads and writes (T136)',
    async (_what, settings) => {
      const service = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true', ...settings });
      try {
        const statements = listStatements(service.app.get(DataSource));
        // An INSERT and an UPDATE of one row are both a row to write for the commit.
        const ask = async (email: string) =>
          (await statements(() => service.post('/forget-password', { email }))).map((verb) =>
            verb === 'INSERT' ? 'UPDATE' : verb,
          );
        await service.givenUser('known');
        await service.givenUser('disabled', { status: -1 });
        const rounds = [];
        // The first request of an address inserts its gate row, the second is throttled, the third finds the gate open.
        for (const seconds of [0, 0, 300]) {
          service.clock.advanceSeconds(seconds);
          rounds.push([
            await ask('known@example.com'),
            await ask('unknown@example.com'),
            await ask('disabled@example.com'),
          ]);
        }
        for (const [known, unknown, disabled] of rounds) expect([unknown, disabled]).toEqual([known, known]);
        const writes = rounds.map(([known]) => known?.filter((verb) => verb === 'UPDATE').length);
        // The gate row, older requests, the new one, its mail and its audit row; and the events.
        const made = 5 + ['WEBHOOK_URL', 'EVENT_RECEIVERS'].filter((name) => name in settings).length;
        expect(writes).toEqual([made + 1, 1, made]);
      } finally {
        await service.stop();
      }
    },
  );
});
