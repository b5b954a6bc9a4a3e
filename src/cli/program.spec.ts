import { userInfo } from 'node:os';
import { systemUser } from './program';

describe('the actor of a command without --actor', () => {
  it('is the name of the system user', () => {
    expect(systemUser()).toBe(userInfo().username);
  });

  it('is the number of the user if the user has no name, as in a container', () => {
    const nameless = () => {
      throw new Error('ENOENT: no such file or directory, uv_os_get_passwd');
    };
    expect(systemUser(nameless)).toBe(`uid ${process.getuid?.()}`);
  });
});
