import { Controller, Get, Module, Post, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../app.module';
import { applyAppSetup, createAdapter } from '../../app.setup';
import { settings } from '../../../test/support/captcha/harness';
import { createLogger } from '../logging/logger';
import { Admits, anyone } from './audience';

@Controller()
class Declared {
  @Get('things')
  @Admits(anyone)
  list(): string {
    return 'things';
  }

  helper(): void {}
}

@Controller('things')
class Forgotten {
  @Get()
  @Admits(anyone)
  list(): void {}

  @Post(':id/name')
  rename(): void {}
}

@Controller()
class Overridden extends Declared {
  @Get('all-things')
  override list(): string {
    return 'more things';
  }
}

@Controller('inherited')
class Inherited extends Forgotten {}

describe('the service with one more controller', () => {
  let app: NestFastifyApplication;
  afterEach(() => app.close());

  async function start(controller: Type<unknown>): Promise<void> {
    class More {}
    Module({ controllers: [controller] })(More);
    const module = { module: More, imports: [AppModule.with(settings({ DATABASE_URL: 'sqlite::memory:' }))] };
    app = await NestFactory.create(module, createAdapter(), { logger: false, bodyParser: false, abortOnError: false });
    await applyAppSetup(app, createLogger('silent'));
  }

  it('starts when each of its routes declares an audience', async () => {
    await start(Declared);
    expect((await app.inject('/things')).statusCode).toBe(200);
  });

  it.each([
    [Forgotten, 'POST /things/:id/name (Forgotten.rename)'],
    [Overridden, 'GET /all-things (Overridden.list)'],
    [Inherited, 'POST /inherited/:id/name (Inherited.rename)'],
  ])('does not start with a route that declares no audience, and names the route: %p', async (controller, route) => {
    await expect(start(controller)).rejects.toThrow(
      `${route} declares no audience: add @AnswersTo(anyone, …) or another`,
    );
  });
});
