import { DataSource } from 'typeorm';
import { TestService } from '../support/app';
import { countStatements } from '../support/count-statements';
import { Smtp } from '../support/servers/smtp';

describe('what the time of an answer tells (W12)', () => {
  it('the answer does not wait for a mail server that is silent (T136, T245)', async () => {
    const smtp = await Smtp.start();
    smtp.hang('greeting');
    const service = await TestService.start({ SMTP_URL: smtp.url });
    try {
      for (let n = 0; n < 5; n++) {
        await service.givenUser(`user${n}`);
        const begun = performance.now();
        expect((await service.post('/forget-password', { email: `user${n}@example.com` })).status).toBe(200);
        // The mail server is waited for longer than that.
        expect(performance.now() - begun).toBeLessThan(4000);
      }
    } finally {
      await smtp.stop();
      await service.stop();
    }
  });

  /**
   * Where existence is hidden, known and unknown addresses cost the store the same number of statements. Counted, not
   * timed: on a busy machine a difference of one statement drowns in the noise, for the test though not for an attacker
   * who asks a thousand times.
   */
  it('a known and an unknown address are the same number of statements', async () => {
    const service = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
    try {
      const statements = countStatements(service.app.get(DataSource));
      const ask = (email: string) => statements(() => service.post('/forget-password', { email }));
      await service.givenUser('known');
      await service.givenUser('disabled', { status: -1 });
      const rounds = [];
      // The first request of an address makes its gate, the second is throttled, the third finds the gate open.
      for (const seconds of [0, 0, 300]) {
        service.clock.advanceSeconds(seconds);
        rounds.push([
          await ask('known@example.com'),
          await ask('unknown@example.com'),
          await ask('disabled@example.com'),
        ]);
      }
      for (const [known, unknown, disabled] of rounds) expect([unknown, disabled]).toEqual([known, known]);
      const [, throttled, made] = rounds.map(([known]) => known ?? 0);
      expect(throttled).toBeGreaterThan(3);
      expect(made).toBeGreaterThan(throttled ?? 0);
    } finally {
      await service.stop();
    }
  });
});
