// The scenarios of each round. A server without such requests skips the scenario. `busy`: thousands of answers a second,
// so wrk makes the load.
const call = (kind, concurrency) => (contestant) => {
  const requests = contestant.requests[kind];
  return requests && [{ requests, concurrency }];
};

export const scenarios = [
  { key: 'login32', title: 'logins at 32', lanes: ({ logins }) => [{ requests: logins, concurrency: 32 }] },
  { key: 'login128', title: 'logins at 128', lanes: ({ logins }) => [{ requests: logins, concurrency: 128 }] },
  { key: 'refresh32', busy: true, title: 'refresh at 32', lanes: call('refresh', 32) },
  { key: 'me32', busy: true, title: 'GET /user/me at 32', lanes: call('me', 32) },
  { key: 'meMany', busy: true, title: 'GET /user/me, 8192 tokens', lanes: call('meMany', 32) },
  {
    key: 'bound32',
    busy: true,
    title: 'GET /user/me, bound tokens',
    // Made for each trial: a proof works once, within a minute.
    lanes: (contestant) => contestant.bound && [{ requests: contestant.boundRequests(), concurrency: 32 }],
  },
  { key: 'introspect32', busy: true, title: 'POST /introspect at 32', lanes: call('introspect', 32) },
  { key: 'verify32', busy: true, title: 'GET /verify at 32', lanes: call('verify', 32) },
  {
    key: 'storm',
    title: 'refresh at 1 beside 8 logins',
    lanes: ({ requests, logins }) => [
      { requests: requests.refresh, concurrency: 1 },
      { requests: logins, concurrency: 8 },
    ],
  },
];
