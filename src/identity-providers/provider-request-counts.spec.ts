import { ProviderRequestCounts } from './provider-request-counts';

describe('the metric of requests to identity providers', () => {
  it('has two hundred names of issuers at most, and counts all others under one', () => {
    const counts = new ProviderRequestCounts();
    for (let n = 1; n <= 203; n++) counts.add(`https://${n}.example.com`, 'answered');
    counts.add('https://200.example.com', 'failed');
    expect(counts.all.size).toBe(201);
    expect(counts.all.get('https://200.example.com')).toEqual({ answered: 1, failed: 1, refused: 0, skipped: 0 });
    expect(counts.all.get('other')).toMatchObject({ answered: 3 });
  });
});
