import { userStatus } from '../../users/user.entity';
import { RequestReads } from './request-reads';

describe('what one request of the provider reads', () => {
  const user = { status: userStatus.enabled, deletedAt: null, credentialVersion: 3 };
  let found: object | null;
  let reads: jest.Mock;
  let provider: { ctx: object | undefined };
  let requestReads: RequestReads;
  beforeEach(() => {
    found = user;
    reads = jest.fn(() => Promise.resolve(found));
    provider = { ctx: {} };
    const table = { find: reads, findByUid: reads };
    const tables = { applications: table, records: table, sessions: table, users: table };
    requestReads = new RequestReads({ ...tables, library: { Provider: provider } } as never);
  });
  const unchanged = (credentialVersion = 3) => requestReads.unchangedUser({ uid: 'alice', credentialVersion });

  it('is read once, and each row for itself', async () => {
    const version = { uid: 'alice', credentialVersion: 3 };
    for (let n = 0; n < 2; n++) {
      await Promise.all([requestReads.user('alice'), unchanged(), requestReads.user('bob')]);
      await Promise.all([requestReads.application('alice'), requestReads.grant('alice')]);
      await Promise.all([requestReads.isLiveSession('s1', version), requestReads.isLiveSession('s2', version)]);
      await requestReads.isLiveSession('s1', { ...version, credentialVersion: 4 });
    }
    expect(reads).toHaveBeenCalledTimes(7);
  });

  it('is read again in the next request, after a write, and outside of a request', async () => {
    await requestReads.user('alice');
    found = null;
    expect(await requestReads.user('alice')).toBe(user);
    requestReads.forget();
    expect(await requestReads.user('alice')).toBeNull();
    provider.ctx = {};
    found = user;
    expect(await requestReads.user('alice')).toBe(user);
    provider.ctx = undefined;
    found = null;
    requestReads.forget();
    expect(await requestReads.user('alice')).toBeNull();
  });

  it.each([
    ['disabled', { status: userStatus.disabled }],
    ['deleted', { deletedAt: new Date() }],
    ['under another credential version', { credentialVersion: 4 }],
  ])('a user who is %s is not unchanged', async (_what, change) => {
    expect(await unchanged()).toBe(user);
    requestReads.forget();
    found = { ...user, ...change };
    expect(await unchanged()).toBeNull();
  });
});
