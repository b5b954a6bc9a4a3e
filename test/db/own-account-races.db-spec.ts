import { decodeJwt } from 'jose';
import { tally, TestService } from '../support/app';
import { codeOf, goodPassword } from '../support/reset';

interface Session {
  readonly access: string;
  readonly refresh: string;
}

const sidOf = ({ access }: Session) => String(decodeJwt(access).sid);

/** docs/spec/extensions.md#a, in one process. `process/own-account` has the same races over two processes. */
describe('races at the own account', () => {
  let service: TestService;
  beforeAll(async () => {
    // On a busy machine a burst waits longer for its hashes than the default allows. These tests do not check the wait.
    service = await TestService.start({ HASH_QUEUE_MAX_WAIT_MS: '60000' });
  });
  afterAll(() => service.stop());

  const change = ({ access: bearer }: Session, current: string, password: string) =>
    service.post(
      '/user/change-password',
      { current_password: current, password, confirm_password: password },
      { bearer },
    );
  const remove = (path: string, { access: bearer }: Session) => service.send('DELETE', path, undefined, { bearer });
  const me = async ({ access: bearer }: Session) => codeOf(await service.get('/user/me', { bearer }));
  const refresh = (bearer: string) => service.post('/refresh', undefined, { bearer });

  it('100 parallel wrong current passwords mixed with /login get three guesses in all (T276)', async () => {
    const { uid } = await service.givenUser('guessed');
    const session = await service.session('guessed');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        n % 2 ? change(session, `wrong ${n}`, goodPassword(1)) : service.login('guessed', `wrong ${n}`),
      ),
    );
    expect(tally(answers)).toEqual({ LOGIN_401001: 3, LOGIN_401004: 97 });
    expect((await service.userRow(uid)).login_failed_count).toBe(3);
  });

  it('a right current password that is compared before the lock and recorded after it gets LOGIN_401004', async () => {
    const { uid } = await service.givenUser('late');
    const session = await service.session('late');
    const before = await service.userRow(uid);
    const lock = () =>
      service.database.affected('UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?', [
        service.clock.now(),
        uid,
      ]);
    const affected = service.database.affected.bind(service.database);
    const spy = jest.spyOn(service.database, 'affected').mockImplementation(async (statement, values) => {
      if (statement.startsWith('UPDATE users SET login_failed_count = 0')) {
        spy.mockRestore();
        await lock();
      }
      return affected(statement, values);
    });
    // `recordPasswordConfirmed` commits by itself, so that the lock is decided before anything of the answer is.
    expect(codeOf(await change(session, 'Correct-Horse-7', 'weak'))).toBe('LOGIN_401004');
    expect((await service.userRow(uid)).password).toBe(before.password);
  });

  it('of 10 parallel changes exactly one wins, and the others get AUTH_401004 (T277)', async () => {
    const { uid } = await service.givenUser('changing');
    const sessions = [await service.session('changing'), await service.session('changing')];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => change(sessions[n % 2]!, 'Correct-Horse-7', goodPassword(n))),
    );
    expect(tally(answers)).toEqual({ success: 1, AUTH_401004: 9 });
    expect(await service.count('user_change_pwd_logs', 'user_id = ? AND type = 1', [uid])).toBe(1);
    const { access_token: access, refresh_token } = answers.find(({ status }) => status === 200)!.body.data;
    expect(await me({ access, refresh: refresh_token })).toBe('success');
    for (const session of sessions) expect(await me(session)).toBe('AUTH_401004');
  });

  it.each<[string, (lost: Session, own: Session) => ReturnType<typeof remove>]>([
    ['the end of one session', (lost, own) => remove(`/user/sessions/${sidOf(lost)}`, own)],
    ['the end of all other sessions', (_lost, own) => remove('/user/sessions', own)],
    ['the own change of the password', (_lost, own) => change(own, 'Correct-Horse-7', goodPassword(1))],
  ])('%s while the session refreshes leaves no usable token of it', async (what, end) => {
    for (let round = 0; round < 5; round++) {
      const name = `${what} ${round}`;
      await service.givenUser(name, { email: null });
      const [own, lost] = [await service.session(name), await service.session(name)];
      const refreshes = () => Array.from({ length: 6 }, () => refresh(lost.refresh));
      const before = refreshes();
      const ended = end(lost, own);
      const answers = await Promise.all([...before, ...refreshes()]);
      expect(codeOf(await ended)).toBe('success');
      for (const { status, body } of answers) {
        if (status !== 200) expect(body.error_code).toBe('AUTH_401006');
        else expect(await me({ ...lost, access: body.data.access_token as string })).toBe('AUTH_401004');
      }
      expect(codeOf(await refresh(lost.refresh))).toBe('AUTH_401006');
    }
  });

  it('of two sessions that end each other at the same time exactly one stays', async () => {
    await service.givenUser('duel');
    for (let round = 0; round < 10; round++) {
      const [one, two] = [await service.session('duel'), await service.session('duel')];
      const path = (other: Session) => (round % 2 === 0 ? `/user/sessions/${sidOf(other)}` : '/user/sessions');
      const answers = await Promise.all([remove(path(two), one), remove(path(one), two)]);
      expect(tally(answers)).toEqual({ success: 1, AUTH_401004: 1 });
      const left = [await me(one), await me(two)];
      expect(left).toEqual(answers.map((answer) => (answer.status === 200 ? 'success' : 'AUTH_401004')));
      await remove('/user/sessions', left[0] === 'success' ? one : two);
    }
  });

  it('of 20 parallel ends of one session one is answered with success, the others with USER_404001', async () => {
    await service.givenUser('twenty');
    const [own, lost] = [await service.session('twenty'), await service.session('twenty')];
    const answers = await Promise.all(Array.from({ length: 20 }, () => remove(`/user/sessions/${sidOf(lost)}`, own)));
    expect(tally(answers)).toEqual({ success: 1, USER_404001: 19 });
  });
});
