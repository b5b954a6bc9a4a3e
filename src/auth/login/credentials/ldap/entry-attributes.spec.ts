import type { DirectoryPerson } from '../../../../directory/person';
import { nicknameOf } from './entry-attributes';

describe('the nickname of a directory user', () => {
  it.each([
    ['Alice', 'Alice'],
    ['a\u202Ednimda\0\n', 'adnimda'],
    ['می\u200Cخواهم', 'می\u200Cخواهم'],
    ['\u2066\u2069', null],
    ['', null],
    [null, null],
  ])('%j is %j: what the service refuses from others never locks the person out', (name, nickname) => {
    expect(nicknameOf({ name } as DirectoryPerson)).toBe(nickname);
  });
});
