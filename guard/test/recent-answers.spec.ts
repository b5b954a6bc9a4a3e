import { RecentAnswers } from '../dist/recent-answers.js';

describe('the cache of answers', () => {
  it('stays within its maximum under a million distinct tokens (T336)', () => {
    const answers = new RecentAnswers<number>(10_000);
    let most = 0;
    for (let n = 0; n < 1_000_000; n += 1) {
      answers.set(`${n}`, n, 1000);
      most = Math.max(most, answers.size);
    }
    expect(most).toBe(10_000);
    expect(answers.get('999999', 0)).toBe(999_999);
    expect(answers.get('1', 0)).toBeUndefined();
  });

  it.each([2, 3, 7])('%i entries are the maximum, however they are used', (max) => {
    const answers = new RecentAnswers<number>(max);
    for (let n = 0; n < 1000; n += 1) {
      answers.set(`${n % 11}`, n, 1000);
      answers.get(`${(n * 7) % 11}`, 0);
      expect(answers.size).toBeLessThanOrEqual(max);
    }
  });

  it('an entry that is used stays while unused ones are dropped', () => {
    const answers = new RecentAnswers<string>(10);
    answers.set('used', 'x', 1000);
    for (let n = 0; n < 1000; n += 1) {
      answers.set(`${n}`, 'y', 1000);
      expect(answers.get('used', 0)).toBe('x');
    }
  });

  it('an expired entry is removed when it is met', () => {
    const answers = new RecentAnswers<string>(10);
    answers.set('a', 'x', 1000);
    expect(answers.get('a', 999)).toBe('x');
    expect(answers.get('a', 1000)).toBeUndefined();
    expect(answers.size).toBe(0);
  });
});
