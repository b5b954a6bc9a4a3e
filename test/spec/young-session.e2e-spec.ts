import { Controller, Get, Module } from '@nestjs/common';
import { AppModule } from '../../src/app.module';
import { Admits } from '../../src/platform/http/audience';
import { SessionsModule } from '../../src/sessions/sessions.module';
import { youngSession } from '../../src/sessions/audiences';
import { password, TestService } from '../support/app';

@Controller()
class SafeController {
  @Get('safe')
  @Admits(youngSession)
  open(): { result: true } {
    return { result: true };
  }
}

@Module({ imports: [SessionsModule], controllers: [SafeController] })
class SafeModule {}

const start = (settings: Record<string, string> = {}) =>
  TestService.start(settings, {
    module: (config) => ({ module: SafeModule, imports: [AppModule.with(config)] }),
  });

describe('a route that needs a young session (docs/spec/extensions.md#young-session)', () => {
  let service: TestService;
  afterEach(() => service.stop());

  const ask = async (bearer: string) => {
    const { status, body } = await service.get('/safe', { bearer });
    return status === 200 ? 'open' : String(body.error_code);
  };
  const refreshed = async (bearer: string) => {
    const { body } = await service.post('/refresh', undefined, { bearer });
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  };

  it('is open for exactly STEP_UP_MAX_AGE_SECONDS after the login, by default 300', async () => {
    service = await start();
    await service.givenUser('ann');
    const { access } = await service.session('ann');
    service.clock.advanceSeconds(300);
    expect(await ask(access)).toBe('open');
    service.clock.advanceSeconds(1);
    expect(await ask(access)).toBe('AUTH_403002');
    expect(await ask((await service.session('ann')).access)).toBe('open');
  });

  it.each(['false', 'true'])(
    'no refresh makes a session younger, with REFRESH_TOKEN_ROTATION=%s (T281)',
    async (rotation) => {
      service = await start({ REFRESH_TOKEN_ROTATION: rotation, STEP_UP_MAX_AGE_SECONDS: '60' });
      await service.givenUser('ann');
      let session = await service.session('ann');
      service.clock.advanceSeconds(59);
      session = await refreshed(session.refresh);
      expect(await ask(session.access)).toBe('open');
      for (let n = 0; n < 3; n++) {
        service.clock.advanceSeconds(30);
        session = await refreshed(session.refresh);
        expect(await ask(session.access)).toBe('AUTH_403002');
      }
    },
  );

  it('a session of a version that did not store the time of its login is old', async () => {
    service = await start();
    await service.givenUser('ann');
    const { access } = await service.session('ann');
    await service.database.affected('UPDATE login_tokens SET authenticated_at = NULL');
    expect(await ask(access)).toBe('AUTH_403002');
  });

  it('a change of the own password makes the session young, because it checks the current one', async () => {
    service = await start();
    await service.givenUser('ann');
    const { access } = await service.session('ann');
    service.clock.advanceSeconds(301);
    expect(await ask(access)).toBe('AUTH_403002');
    const next = 'Another-Horse-8';
    const change = (current_password: string) =>
      service.post(
        '/user/change-password',
        { current_password, password: next, confirm_password: next },
        { bearer: access },
      );
    await change('wrong');
    expect(await ask(access)).toBe('AUTH_403002');
    expect(await ask((await change(password)).body.data.access_token as string)).toBe('open');
  });

  it('the access token is judged first, and a refresh token is none', async () => {
    service = await start();
    await service.givenUser('ann');
    const { access, refresh } = await service.session('ann');
    expect(await ask('nonsense')).toBe('AUTH_401001');
    expect(await ask(refresh)).toBe('AUTH_401001');
    service.clock.advanceSeconds(301);
    expect(await ask(access)).toBe('AUTH_403002');
    await service.post('/logout', undefined, { bearer: access });
    expect(await ask(access)).toBe('AUTH_401004');
  });
});
