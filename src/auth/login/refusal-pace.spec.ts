import { RefusalPace } from './refusal-pace';

describe('the pace of refusals', () => {
  it('answers a single refusal after 25 ms, whenever it comes', () => {
    const pace = new RefusalPace();
    expect([0, 100, 127].map((now) => pace.next(now))).toEqual([25, 25, 25]);
  });

  it('answers the refusals of one moment one after the other, 2 ms apart', () => {
    const pace = new RefusalPace();
    expect([1, 2, 3, 4].map(() => pace.next(1000))).toEqual([25, 27, 29, 31]);
  });

  it('300 clients that come back at once get at most 500 answers a second', () => {
    const pace = new RefusalPace();
    const answers = Array.from({ length: 300 }, () => pace.next(0));
    let within = 0;
    for (let time = answers.shift()!; time < 10_000; time = answers.shift()!) {
      within++;
      answers.push(time + pace.next(time));
    }
    expect(within / 10).toBeLessThanOrEqual(500);
    expect(within / 10).toBeGreaterThan(490);
  });

  it('holds no refusal for more than a second, however many there are', () => {
    const pace = new RefusalPace();
    const waits = Array.from({ length: 5000 }, () => pace.next(0));
    expect(Math.max(...waits)).toBe(1000);
    expect(pace.next(5000)).toBe(25);
  });
});
