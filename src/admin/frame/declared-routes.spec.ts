import 'reflect-metadata';
import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { validationPipe } from '../../platform/http/validation';
import { DomainError } from '../../shared/errors/domain-error';
import { AdminChange, AdminGet } from './admin-route';
import { AlsoFor, assertDeclaredRoutes, isAdmitted } from './declared-routes';

class Answer {}

class Rename {
  @IsOptional()
  @IsString()
  name?: string;
}

@Controller('admin')
class Right {
  @AdminGet('things', 'users.read', Answer)
  list(): void {}

  @AdminChange('PATCH', 'things', 'users.write', Answer)
  rename(@Body() { name }: Rename): unknown {
    return name;
  }

  helper(): void {}
}

@Controller('admin')
class Forgotten {
  @AdminGet('things', 'users.read', Answer)
  list(): void {}

  @Post('things')
  change(): void {}
}

@Controller('admin')
class Open {
  @Get('things')
  list(): void {}
}

@Controller('admin')
class Shapeless {
  @AdminChange('POST', 'things', 'users.write', Answer)
  change(@Body() { name }: { readonly name: string }): unknown {
    return name;
  }
}

@Controller('admin')
class Roles {
  @AlsoFor('auditor')
  @AdminGet('things', 'users.read', Answer)
  list(): void {}

  @AdminGet('others', 'users.read', Answer)
  others(): void {}
}

describe('the routes of the administration', () => {
  it('admit no role unless they name it (T609)', () => {
    const { list, others } = Roles.prototype;
    expect([isAdmitted(list, 'auditor'), isAdmitted(list, 'help_desk')]).toEqual([true, false]);
    expect([isAdmitted(others, 'auditor'), isAdmitted(others, 'help_desk')]).toEqual([false, false]);
  });

  it('start when each one declares its permission', () => {
    expect(() => assertDeclaredRoutes([Right])).not.toThrow();
  });

  it.each([
    [Forgotten, 'Forgotten.change declares no permission'],
    [Open, 'Open.list declares no permission'],
    [Shapeless, 'Shapeless.change reads a body or a query without a class'],
  ])('do not start with %p (T312)', (controller, problem) => {
    expect(() => assertDeclaredRoutes([Right, controller])).toThrow(problem);
  });

  it('refuse an unknown field of a body instead of dropping it', async () => {
    assertDeclaredRoutes([Right]);
    const pipe = validationPipe();
    const refused = pipe.transform({ name: 'a', is_admin: true }, { type: 'body', metatype: Rename });
    await expect(refused).rejects.toMatchObject({
      entry: { code: 'COMMON_400001' },
      data: { fields: { is_admin: ['is_admin is not a known field'] } },
    } satisfies { entry: Partial<DomainError['entry']>; data: unknown });
    await expect(pipe.transform({ name: 'a' }, { type: 'body', metatype: Rename })).resolves.toEqual({ name: 'a' });
  });
});
