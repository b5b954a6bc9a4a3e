import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { marksOfHandler } from '../../platform/http/route-marks';
import { refuseUnknownFieldsOf } from '../../platform/http/validation';
import type { Role } from '../../users/user.entity';
import type { AdminPermission } from './permissions';

const declared = new WeakMap<object, AdminPermission>();

export function declare(handler: object, permission: AdminPermission): void {
  declared.set(handler, permission);
}

const admitted = new WeakMap<object, ReadonlySet<Role>>();

/**
 * Admits holders of these roles to the route, beside administrators with its permission. A route without it admits none
 * of them (docs/spec/extensions.md#roles).
 */
export function AlsoFor(...roles: readonly Role[]): MethodDecorator {
  return (_prototype, _name, descriptor) => void admitted.set(descriptor.value as object, new Set(roles));
}

export const isAdmitted = (handler: object, role: Role): boolean => admitted.get(handler)?.has(role) === true;

export const permissionOf = (handler: object): AdminPermission | undefined => declared.get(handler);

/** `paramtype` of Nest for `@Body()` and `@Query()`, in the keys of ROUTE_ARGS_METADATA. */
const validated = /^(3|4):(\d+)$/;

/**
 * Checks the routes of the controllers before the service starts: each one was declared by AdminGet, AdminList
 * or AdminChange, and validates bodies and queries by a class. These classes then refuse unknown fields.
 * @throws Error that names the first wrong route
 */
export function assertDeclaredRoutes(controllers: readonly Type<unknown>[]): void {
  for (const controller of controllers) {
    const prototype = controller.prototype as Record<string, unknown>;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const handler = Object.getOwnPropertyDescriptor(prototype, name)?.value as unknown;
      if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
      const route = `${controller.name}.${name}`;
      if (!declared.has(handler)) throw new Error(`${route} declares no permission: use AdminGet or AdminChange`);
      refuseUnknownFieldsOf(validatedTypes(controller, name, route));
      const { lateBody } = marksOfHandler(handler);
      if (lateBody !== undefined) refuseUnknownFieldsOf([lateBody]);
    }
  }
}

function validatedTypes(controller: Type<unknown>, name: string, route: string): Type<unknown>[] {
  const given = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as object;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) ?? []) as Type[];
  return Object.keys(given).flatMap((key) => {
    const index = validated.exec(key)?.[2];
    if (index === undefined) return [];
    const type = types[Number(index)];
    if (type === undefined || type === Object) throw new Error(`${route} reads a body or a query without a class`);
    return [type];
  });
}
