import { verifier, type VerifierOptions } from '../dist/index.js';
import { asking, audience, client, issuer, jwksUrl, verifying } from './world';

describe('the options of verifier', () => {
  const messageOf = (options: unknown): string => {
    try {
      verifier(options as VerifierOptions);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };
  const without = (options: object, name: string) =>
    Object.fromEntries(Object.entries(options).filter(([key]) => key !== name));

  it.each(Object.keys(asking))('without %s, the mode introspection names it', (name) => {
    expect(messageOf(without(asking, name))).toMatch(new RegExp(`^verifier: ${name} (is required|must be)`));
  });

  it.each(Object.keys(verifying))('without %s, the mode jwks names it', (name) => {
    expect(messageOf(without(verifying, name))).toMatch(new RegExp(`^verifier: ${name} (is required|must be)`));
  });

  it.each(Object.keys(client))('the mode jwks with a client that lacks %s names it', (name) => {
    expect(messageOf({ ...verifying, ...without(client, name) })).toBe(`verifier: ${name} is required`);
  });

  it.each(['isuer', 'introspectionURL', 'maxStaleSecond', 'secret', '__proto__x'])('a misspelt %s is named', (name) => {
    expect(messageOf({ ...asking, [name]: 'x' })).toMatch(new RegExp(`^verifier: ${name} is not an option`));
  });

  it.each([
    ['mode', 'Introspection'],
    ['issuer', '  '],
    ['audience', ['portal']],
    ['introspectionUrl', 'auth.example.com/introspect-sEcReT'],
    ['introspectionUrl', 'file:///sEcReT'],
    ['introspectionUrl', 'https://user:sEcReT@auth.example.com/introspect'],
    ['jwksUrl', 'sEcReT'],
    ['clientId', 'sEcReT:x'],
    ['clientSecret', 'sEcReT\n'],
    ['clientSecret', ''],
    ['maxStaleSeconds', -1],
    ['maxStaleSeconds', '60'],
    ['maxStaleSeconds', Number.NaN],
    ['maxStaleSeconds', 60_000],
    ['timeoutMs', 0],
    ['maxCachedTokens', 1],
    ['onUnavailable', 'sEcReT'],
    ['origins', 'portal.example.com/sEcReT'],
    ['origins', ['https://portal.example.com', 'https://portal.example.com/?sEcReT']],
    ['trustForwarded', 'sEcReT'],
    ['requireBinding', 1],
    ['replayStore', { firstUse: 'sEcReT' }],
    ['replayStore', null],
  ])('a wrong %s (%j) is named in one line, and its value is not told', (name, value) => {
    const message = messageOf({ ...asking, [name]: value });
    expect(message).toMatch(new RegExp(`^verifier: ${name} .+$`));
    expect(message).not.toMatch(/sEcReT/);
  });

  it('maxStaleSeconds promises nothing in the mode jwks without a client', () => {
    expect(messageOf({ ...verifying, maxStaleSeconds: 30 })).toMatch(
      /^verifier: maxStaleSeconds needs introspectionUrl/,
    );
    expect(messageOf({ ...verifying, ...client, maxStaleSeconds: 30 })).toBe('accepted');
  });

  it.each(['introspection', 'jwks'])('one object with all options suits the mode %s', (mode) => {
    expect(messageOf({ mode, issuer, audience, ...client, jwksUrl, maxStaleSeconds: 0 })).toBe('accepted');
    expect(messageOf(undefined)).toMatch(/^verifier: an object/);
  });
});
