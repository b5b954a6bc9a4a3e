import type * as swagger from '@nestjs/swagger';

export type Swagger = typeof swagger;
type Decorator = (...target: unknown[]) => void;

const waiting: ((loaded: Swagger) => void)[] = [];

/**
 * A decorator of @nestjs/swagger that is applied when somebody asks for the document: the package and what it brings along
 * are 500 files and a seventh of the time to start, for a page that most replicas never show (ADR 0014).
 */
function deferred<Name extends keyof Swagger>(name: Name): Swagger[Name] {
  const decorator =
    (...options: unknown[]): Decorator =>
    (...target) =>
      void waiting.push((loaded) => {
        const apply = loaded[name] as (...options: unknown[]) => Decorator;
        apply(...options)(...target);
      });
  return decorator as Swagger[Name];
}

export const ApiBearerAuth = deferred('ApiBearerAuth');
export const ApiBody = deferred('ApiBody');
export const ApiExcludeController = deferred('ApiExcludeController');
export const ApiExtraModels = deferred('ApiExtraModels');
export const ApiOkResponse = deferred('ApiOkResponse');
export const ApiOperation = deferred('ApiOperation');
export const ApiParam = deferred('ApiParam');
export const ApiProperty = deferred('ApiProperty');
export const ApiPropertyOptional = deferred('ApiPropertyOptional');
export const ApiResponse = deferred('ApiResponse');
export const ApiSecurity = deferred('ApiSecurity');
export const ApiTags = deferred('ApiTags');

export const schemaPath = (model: { readonly name: string }): string => `#/components/schemas/${model.name}`;

/** The package, with every decorator applied that has been written so far, in the order of the sources. */
export async function loadSwagger(): Promise<Swagger> {
  const loaded = await import('@nestjs/swagger');
  for (const apply of waiting.splice(0)) apply(loaded);
  return loaded;
}
