import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { AdministrationModule } from './administration.module';
import { assertDeclaredRoutes } from './frame/declared-routes';
import { AdminUsersController } from './http/users.controller';

const controllers = [AdminUsersController];
assertDeclaredRoutes(controllers);

/** The API of administrators (docs/spec/extensions.md#d). With `ADMIN_API=off` it is not part of the service. */
@Module({ imports: [AdministrationModule, TokensModule, UsersModule], controllers })
export class AdminModule {}
