import 'reflect-metadata';
import { applyDecorators, type CanActivate, RequestMethod, type Type, UseGuards } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { Answers } from './answers.decorator';
import { ApiSecurity } from './api-docs';

/** Who may call a route: what proves it, how the OpenAPI document says so, and what everybody else is answered. */
export interface Audience {
  readonly guards: readonly Type<CanActivate>[];
  /** The security requirements of OpenAPI, of which a request meets one. `{}`: also without a token. */
  readonly security: readonly Readonly<Record<string, string[]>>[];
  /** The errors that the guards answer. */
  readonly refusals: readonly CatalogueEntry[];
}

/** The public: no token is needed, and none is read. */
export const anyone: Audience = { guards: [], security: [], refusals: [] };

/** The decorated methods. `assertAudiences` refuses all other routes. */
const declared = new WeakSet<object>();

/**
 * Declares who may call a route and what it answers: `@AnswersTo(accessToken, PasskeyItem, notFoundForCaller, …)`. It
 * sets the guards, the security of the OpenAPI document and the declared answers (see `Answers`).
 * @param success the class of `data` in the success envelope; undefined for a route with its own format
 * @param own the errors of the route; those of the guards are implied
 */
export function AnswersTo(
  audience: Audience,
  success: Type<unknown> | undefined,
  ...own: CatalogueEntry[]
): MethodDecorator {
  return applyDecorators(Admits(audience), Answers(success, ...audience.refusals, ...own));
}

/** Declares only who may call a route, for one whose answers are declared elsewhere or are not in the OpenAPI document. */
export function Admits({ guards, security }: Audience): MethodDecorator {
  return applyDecorators(
    (_prototype: object, _name: string | symbol, descriptor: PropertyDescriptor) =>
      void declared.add(descriptor.value as object),
    UseGuards(...guards),
    ...security.map((requirement) => ApiSecurity(requirement)),
  );
}

/**
 * Default deny: a route that nobody has thought about must not be public by accident. Runs before the service listens.
 * @throws Error that names the first route without an audience
 */
export function assertAudiences(modules: ModulesContainer): void {
  const scanner = new MetadataScanner();
  for (const { metatype } of [...modules.values()].flatMap(({ controllers }) => [...controllers.values()])) {
    const controller = metatype as Type<unknown>;
    const prototype = controller.prototype as Record<string, object>;
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name] ?? {};
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined || declared.has(handler)) continue;
      const path = [controller, handler].flatMap(
        (part) => Reflect.getMetadata(PATH_METADATA, part) as string | string[],
      );
      const route = `${RequestMethod[method]} /${path.filter((part) => part !== '/').join('/')}`;
      throw new Error(
        `${route} (${controller.name}.${name}) declares no audience: add @AnswersTo(anyone, …) or another`,
      );
    }
  }
}
