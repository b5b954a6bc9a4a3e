import { hash } from 'bcryptjs';
import { CrashPair } from '../support/crash/crash-pair';
import { contradictions, type Facts, factsOf, forgottenEvents } from '../support/crash/crash-facts';
import { givenAdministrators, tellStories, type World } from '../support/crash/crash-stories';
import { WebhookReceiver } from '../support/events/webhook-receiver';
import { lostTime } from '../support/lost-time';
import { SeededNumbers } from '../support/seeded-numbers';
import { eventually } from '../support/servers/eventually';
import { Smtp } from '../support/servers/smtp';
import { password, patientDatabase, testSettings } from '../support/settings';

/** `CRASH_KILLS=300 CRASH_SEED=7` makes a longer run, and another one. */
const kills = Number(process.env.CRASH_KILLS ?? 20);
const seed = Number(process.env.CRASH_SEED ?? 1);
/** People who act at the same time. */
const people = 6;
const origin = 'https://portal.test';

const settings = {
  ...testSettings,
  ...patientDatabase,
  LOG_LEVEL: 'error',
  SYSTEM_URL: origin,
  MAIL_FROM: 'portal@example.com',
  MFA_REQUIRED: 'true',
  REFRESH_TOKEN_ROTATION: 'true',
  ADMIN_API: 'on',
  // However slow the machine is, nothing expires, and no attempt that was cut short uses up a budget.
  REFRESH_REUSE_GRACE_SECONDS: '600',
  ACCESS_TOKEN_TTL_SECONDS: '86400',
  STEP_UP_MAX_AGE_SECONDS: '86400',
  OTP_TTL_SECONDS: '86400',
  OTP_COOLDOWN_SECONDS: '86400',
  MFA_PENDING_TTL_SECONDS: '86400',
  OTP_MAX_ATTEMPTS: '1000',
  OTP_ACCOUNT_MAX_FAILURES: '1000',
  RESET_REQUEST_TTL_SECONDS: '86400',
  RESET_REQUEST_THROTTLE_SECONDS: '86400',
  USER_LOCK_TIME: '86400',
};

describe('SIGKILL at random moments of two processes under load', () => {
  let smtp: Smtp;
  let receiver: WebhookReceiver;
  let pair: CrashPair;
  let world: World;
  const random = new SeededNumbers(seed);
  const ended = new Map<string, Facts>();

  beforeAll(async () => {
    [smtp, receiver] = [await Smtp.start(), await WebhookReceiver.start()];
    pair = await CrashPair.start({ ...settings, SMTP_URL: smtp.url, ...receiver.settings });
    const given = { pair, smtp, origin, hash: await hash(password, 4), seen: new Map<string, number>() };
    world = { ...given, admins: await givenAdministrators(given, 3, new SeededNumbers(seed)) };
  });

  afterAll(async () => {
    await pair.stop();
    await receiver.stop();
    await smtp.stop();
  });

  /** Compares the whole database with itself, and with what the clients of ended stories know. */
  async function assertInOrder(when: string): Promise<void> {
    const told = new Map(ended);
    const all = await factsOf(pair);
    const wrong = all.flatMap((facts) => contradictions(facts));
    for (const facts of all) {
      const known = told.get(facts.uid);
      if (known !== undefined && lasting(known) !== lasting(facts)) {
        wrong.push(`changed after the end of its story: ${lasting(known)} is now ${lasting(facts)}`);
      }
    }
    wrong.push(...(await forgottenEvents(pair)));
    if (wrong.length > 0) throw new Error(`${when}, CRASH_SEED=${seed}:\n${wrong.slice(0, 5).join('\n')}`);
  }

  it(
    `T250 after ${kills} kills the database agrees with itself and with every answer, and no mail or event is lost`,
    async () => {
      const failures: Error[] = [];
      const lost = lostTime();
      let running = true;
      const goesOn = () => running && failures.length === 0;
      const stories = Array.from({ length: people }, (_, n) =>
        tellStories(world, new SeededNumbers(1000 * seed + n), goesOn, (facts) => ended.set(facts.uid, facts)).catch(
          (error: Error) => void failures.push(error),
        ),
      );
      const assertNoFailure = () => {
        if (failures.length > 0) throw new Error(`CRASH_SEED=${seed}: ${failures[0]!.message}`, { cause: failures[0] });
      };
      try {
        for (let kill = 1; kill <= kills; kill++) {
          const point = await pair.killOne(random);
          const launched = pair.launch();
          await assertInOrder(`kill ${kill} of ${kills} (${point})`).finally(() => launched);
          assertNoFailure();
        }
        await pair.killAll(random);
        await assertInOrder('the kill of both processes');
        // No process lives, so every lease belongs to a dead one. This is what the passing of a minute does.
        for (const table of ['mail_outbox', 'event_streams']) {
          await pair.rows(`UPDATE ${table} SET claimed_until = '2000-01-01' WHERE claimed_by IS NOT NULL`);
        }
        await pair.launch();
      } finally {
        running = false;
        await Promise.all(stories);
      }
      assertNoFailure();
      await assertInOrder('the end of all stories');
      await assertAllSent(lost().longestMs);
      if (process.env.CRASH_KILLS !== undefined) {
        const seen = Object.fromEntries([...world.seen].sort(([a], [b]) => a.localeCompare(b)));
        process.stdout.write(`${JSON.stringify({ seed, stories: ended.size, ...pair.counts, ...seen }, null, 1)}\n`);
      }
      // The kills have fallen among requests.
      expect(pair.counts.unanswered).toBeGreaterThan(0);
      expect(ended.size).toBeGreaterThan(kills);
    },
    600_000 + 15_000 * kills,
  );

  /**
   * Each mail and each event arrives. Only what was in flight at a kill arrives more than once.
   * @param stoodStillMs a service gives up after 10 s, and a receiver that stood still so long may have accepted the event
   */
  async function assertAllSent(stoodStillMs: number): Promise<void> {
    await eventually(
      async () => {
        const [left] = await pair.rows<{ n: number }>(
          `SELECT (SELECT COUNT(*) FROM mail_outbox WHERE status = 0)
                + (SELECT COUNT(*) FROM event_outbox WHERE status = 0) AS n`,
        );
        return Number(left?.n) === 0;
      },
      { what: 'every mail and event is sent', timeout: 180_000, interval: 250 },
    );
    const mails = await pair.rows<{ id: string; status: number }>('SELECT id, status FROM mail_outbox');
    const arrivedMails = smtp.messages.map(({ mail }) => String(mail.messageId).replace(/^<|@.*$/g, ''));
    // A mail that waited when its user was deleted is not sent, or was in flight.
    const sent = mails.filter(({ status }) => status === 1).map(({ id }) => id);
    expect(sent.length).toBeGreaterThan(0);
    expect(without(sent, arrivedMails)).toEqual([]);
    expect(
      without(
        arrivedMails,
        mails.map(({ id }) => id),
      ),
    ).toEqual([]);
    expect(without(twice(arrivedMails), pair.inFlight.mails)).toEqual([]);

    const events = await pair.rows<{ event_id: string; stream: string }>(
      'SELECT event_id, stream FROM event_outbox ORDER BY id',
    );
    const arrived = receiver.accepted.map(({ id }) => id);
    const ids = events.map(({ event_id }) => event_id);
    expect(ids.length).toBeGreaterThan(0);
    expect(without(ids, arrived)).toEqual([]);
    expect(without(arrived, ids)).toEqual([]);
    if (stoodStillMs < 5000) expect(without(twice(arrived), pair.inFlight.events)).toEqual([]);
    // In the order of each user.
    const streams = new Map(events.map(({ event_id, stream }) => [event_id, stream]));
    expect(byStream([...new Set(arrived)], streams)).toEqual(byStream(ids, streams));
  }
});

/** What no later event may change. A mail that waits is sent later. */
const lasting = (facts: Facts): string => JSON.stringify({ ...facts, waitingMails: undefined });

const without = (items: readonly string[], others: Iterable<string>): string[] => {
  const known = new Set(others);
  return items.filter((item) => !known.has(item));
};

function twice(items: readonly string[]): string[] {
  const seen = new Set<string>();
  return items.filter((item) => seen.size === seen.add(item).size);
}

function byStream(ids: readonly string[], streams: ReadonlyMap<string, string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const id of ids) {
    const stream = streams.get(id) ?? 'unknown';
    found.set(stream, [...(found.get(stream) ?? []), id]);
  }
  return found;
}
