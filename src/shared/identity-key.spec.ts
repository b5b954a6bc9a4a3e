import { identityKey } from './identity-key';

describe('identityKey', () => {
  it.each(['alice', 'ALICE', 'Alice', 'alice ', '\talice\n', 'ａｌｉｃｅ', 'ＡＬＩＣＥ', '\u00a0alice', 'ⓐⓛⓘⓒⓔ'])(
    '%j means the account alice, which has one failure counter (W19)',
    (typed) => {
      expect(identityKey(typed)).toBe('alice');
    },
  );

  it.each(['álice', 'alıce', 'аlice', 'alice.', 'al ice', 'alice\u200b'])(
    '%j means another account than alice',
    (typed) => {
      expect(identityKey(typed)).not.toBe('alice');
    },
  );

  it('composed and decomposed accents have the same key, and the key of a key is the key itself', () => {
    expect(identityKey('a\u0301lice')).toBe(identityKey('álice'));
    for (const typed of ['ＡＬＩＣＥ ', 'İstanbul', 'ﬃ', 'Straße', 'ΑΣ', '𝒜lice', 'alice\u0301', '\ufdfa']) {
      expect(identityKey(identityKey(typed))).toBe(identityKey(typed));
    }
  });
});
