import { mappedClaims } from './mapped-claims';

const claims = { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: null };
const provider = (domains: string[]) => ({ claims, matchClaim: null, domains });
const emailOf = (domains: string[], email: string) => {
  const person = mappedClaims(provider(domains), { email });
  return [person.email, person.vouched];
};

describe('T534 the address that a provider claims', () => {
  it('is one of its own domains, or it is left out: a provider does not speak for the people of others', () => {
    expect(emailOf(['acme.example'], 'ann@acme.example')).toEqual(['ann@acme.example', true]);
    expect(emailOf(['acme.example'], 'Ann@ACME.example')).toEqual(['Ann@ACME.example', true]);
    expect(emailOf(['acme.example'], 'ceo@vendor.example')).toEqual([null, false]);
    expect(emailOf(['acme.example'], 'ceo@evil.acme.example')).toEqual([null, false]);
  });

  it('of a provider without domains is followed, and proves nothing', () => {
    expect(emailOf([], 'ann@acme.example')).toEqual(['ann@acme.example', false]);
  });
});
