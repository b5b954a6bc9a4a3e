import { languageOf, negotiateLanguage } from './languages';

describe('languages', () => {
  it.each([
    ['en', 'en'],
    ['EN', 'en'],
    ['en-GB', 'en'],
    ['zh', 'zh-CN'],
    ['zh-CN', 'zh-CN'],
    ['zh-cn', 'zh-CN'],
    ['zh-Hans-CN', 'zh-CN'],
    ['de-AT', 'de'],
  ])('the tag %s means %s', (tag, language) => {
    expect(languageOf(tag)).toBe(language);
  });

  it.each([
    'fr',
    '',
    'en&uid=1',
    'en\r\nSet-Cookie: x=1',
    'en\n',
    '<b>en</b>',
    '../en',
    'zh_CN',
    'english',
    `en-${'a'.repeat(1000)}`,
    undefined,
    null,
    1,
    ['en'],
    { toString: () => 'en' },
  ])('the tag %j means no language (W29)', (tag) => {
    expect(languageOf(tag)).toBeUndefined();
  });

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['fr, it;q=0.5', 'en'],
    ['fr, de-CH;q=0.5, en;q=0.4', 'de'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ['fr, zh;q=0.5', 'zh-CN'],
    ['en;q=0.5, zh-CN', 'zh-CN'],
    ['zh;q=0.2, en;q=0.3', 'en'],
    ['zh;q=0, en;q=0.1', 'en'],
    ['zh;q=0', 'en'],
    ['zh-CN ; q=0.9 , en ; q=0.8', 'zh-CN'],
    [';;;,,,q=', 'en'],
    [`${'x,'.repeat(5000)}zh`, 'en'],
  ])('Accept-Language %j selects %s', (header, language) => {
    expect(negotiateLanguage(header)).toBe(language);
  });
});
