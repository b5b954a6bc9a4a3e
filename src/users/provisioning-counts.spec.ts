import { ProvisioningCounts } from './provisioning-counts';

describe('the counts of requests by SCIM', () => {
  it('each kind has its own count, and all other paths have one together', () => {
    const counts = new ProvisioningCounts();
    counts.add('GET', 'Users', 200);
    counts.add('GET', 'Users', 201);
    counts.add('GET', 'Groups', 404);
    for (const path of ['typed-1', 'typed-2', undefined]) counts.add('GET', path, 404);
    expect([...counts.all]).toEqual([
      { method: 'GET', kind: 'Users', result: 'success', count: 2 },
      { method: 'GET', kind: 'Groups', result: '404', count: 1 },
      { method: 'GET', kind: 'other', result: '404', count: 3 },
    ]);
  });
});
