import type * as swagger from '@nestjs/swagger';

export type Swagger = typeof swagger;
type Decorator = (...target: unknown[]) => void;

const waiting: ((loaded: Swagger) => void)[] = [];

/**
 * Defers a decorator of @nestjs/swagger until the OpenAPI document is requested. The package loads 500 files, a seventh
 * of the start time, and most replicas never serve the document (ADR 0014).
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

export const ApiBody = deferred('ApiBody');
export const ApiQuery = deferred('ApiQuery');
export const ApiConsumes = deferred('ApiConsumes');
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

/** Loads the package and applies the deferred decorators in their order in the sources. */
export async function loadSwagger(): Promise<Swagger> {
  const loaded = await import('@nestjs/swagger');
  for (const apply of waiting.splice(0)) apply(loaded);
  return loaded;
}
