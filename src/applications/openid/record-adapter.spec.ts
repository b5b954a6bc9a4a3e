import { RecordAdapter } from './record-adapter';

class InvalidGrant extends Error {}

describe('the second use of a code', () => {
  const consumed = async (found: object | undefined) => {
    const ended: string[] = [];
    const records = {
      consume: () => Promise.resolve(false),
      find: () => Promise.resolve(found),
    };
    const reusedGrants = { end: (grantId: string) => Promise.resolve(void ended.push(grantId)) };
    const library = { errors: { InvalidGrant }, Provider: {} };
    const ports = { records, reusedGrants, reads: { forget: () => undefined }, library };
    await expect(new RecordAdapter('AuthorizationCode', ports as never).consume('code')).rejects.toThrow(InvalidGrant);
    return ended;
  };

  it('ends the grant', async () => {
    expect(await consumed({ payload: { grantId: 'grant' } })).toEqual(['grant']);
  });

  it('is invalid_grant as well when the code is gone meanwhile, or has no grant', async () => {
    expect([await consumed(undefined), await consumed({ payload: {} })]).toEqual([[], []]);
  });
});
