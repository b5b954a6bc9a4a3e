import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessTokenGuard } from '@portal-auth/guard/nest';
import { OrdersController } from './orders.controller.js';
import { tokens } from './tokens.js';

/** The guard is global: a route without `@Public()` needs a valid access token. */
@Module({
  controllers: [OrdersController],
  providers: [{ provide: APP_GUARD, useFactory: () => new AccessTokenGuard(tokens) }],
})
export class AppModule {}
