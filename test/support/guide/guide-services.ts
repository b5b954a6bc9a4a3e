import { TestService } from '../app';
import { FakeClock } from '../fakes';
import { mailsStay } from '../mfa';

/** The services of the page: one for each set of settings, as replicas of one store. They share a clock. */
export class GuideServices {
  // altcha-lib compares the end of a challenge with the system clock, so the clock starts at the present time.
  readonly clock = new FakeClock(new Date());
  private readonly running = new Map<string, TestService>();

  constructor(private readonly settings: Readonly<Record<string, string>>) {}

  async with(settings: Readonly<Record<string, string>>): Promise<TestService> {
    const key = JSON.stringify(settings);
    const known = this.running.get(key);
    if (known !== undefined) return known;
    const [first] = this.running.values();
    const shared = { clock: this.clock, ...(first === undefined ? {} : { store: first.store }) };
    const service = await TestService.start({ ...mailsStay, ...this.settings, ...settings }, shared);
    this.running.set(key, service);
    return service;
  }

  async stop(): Promise<void> {
    const [first, ...others] = this.running.values();
    for (const service of others) await service.stop({ keepStore: true });
    await first?.stop();
  }
}
