import { userInfo } from 'node:os';
import { systemUser } from './program';

describe('the actor of a command without --actor', () => {
  it('is the system user', () => {
    expect(systemUser()).toBe(userInfo().username);
  });

  it('is a number where the user of a container has no name', () => {
    const nameless = () => {
      throw new Error('ENOENT: no such file or directory, uv_os_get_passwd');
    };
    expect(systemUser(nameless)).toBe(`uid ${process.getuid?.()}`);
  });
});
