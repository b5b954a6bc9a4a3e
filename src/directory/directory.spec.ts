import { Logger } from '@nestjs/common';
import type { Clock } from '../shared/clock';
import { DirectoryServer } from './client/directory-server';
import { Directory } from './directory';
import { avoidedMs, repeatedLogMs } from './ldap-limits';
import { DirectoryFailure } from './protocol/directory-failure';

describe('several servers of the directory', () => {
  const day = Date.UTC(2026, 0, 1);
  let [now, silent, asked]: [number, string[], string[]] = [0, [], []];
  let logged: jest.SpyInstance;
  let directory: Directory;
  beforeEach(() => {
    [now, silent, asked] = [1000, [], []];
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(DirectoryServer.prototype, 'find').mockImplementation(function (this: DirectoryServer) {
      const host = this.label.replace(/^ldap:..(.*):389$/, '$1');
      asked.push(host);
      if (silent.includes(host)) return Promise.reject(new DirectoryFailure('no answer in time'));
      return Promise.resolve({ kind: 'nobody' });
    });
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const ldap = { urls: ['ldap://a', 'ldap://b'], timeoutMs: 3000 };
    const clock = { now: () => new Date(day + now) } as Clock;
    directory = new Directory({ ldap } as never, clock, undefined);
  });
  afterEach(() => jest.restoreAllMocks());

  const ask = async (questions = 1) => {
    asked = [];
    const question = () => directory.find({ name: 'ann' }, now + 4000).catch(() => undefined);
    await Promise.all(Array.from({ length: questions }, question));
    return asked.sort().join('');
  };

  it('one that failed is left out until its time is over, and then one question tries it', async () => {
    silent = ['a'];
    expect(await ask()).toBe('ab');
    expect(await ask()).toBe('b');
    now += avoidedMs - 1;
    expect(await ask()).toBe('b');
    now += 1;
    expect(await ask(3)).toBe('abbb');
    now += avoidedMs;
    silent = [];
    expect(await ask()).toBe('a');
    expect(await ask(2)).toBe('aa');
  });

  it('all that fail are logged once each, and again after an hour', async () => {
    silent = ['a', 'b'];
    expect(await ask()).toBe('ab');
    expect(logged).toHaveBeenCalledTimes(2);
    expect(await ask()).toBe('ab');
    expect(logged).toHaveBeenCalledTimes(2);
    now += repeatedLogMs;
    await ask();
    expect(logged).toHaveBeenCalledTimes(4);
  });
});
