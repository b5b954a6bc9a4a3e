import { identityKey } from './identity-key';

describe('identityKey', () => {
  it.each(['alice', 'ALICE', 'Alice', 'alice ', '\talice\n', 'ａｌｉｃｅ', 'ＡＬＩＣＥ', '\u00a0alice', 'ⓐⓛⓘⓒⓔ'])(
    '%j is the account alice, with its one counter (W19)',
    (typed) => {
      expect(identityKey(typed)).toBe('alice');
    },
  );

  it.each(['álice', 'alıce', 'аlice', 'alice.', 'al ice', 'alice\u200b'])('%j is another account', (typed) => {
    expect(identityKey(typed)).not.toBe('alice');
  });

  it('composed and decomposed accents are one, and a key is its own key', () => {
    expect(identityKey('a\u0301lice')).toBe(identityKey('álice'));
    for (const typed of ['ＡＬＩＣＥ ', 'İstanbul', 'ﬃ', 'Straße', 'ΑΣ', '𝒜lice', 'alice\u0301', '\ufdfa']) {
      expect(identityKey(identityKey(typed))).toBe(identityKey(typed));
    }
  });
});
