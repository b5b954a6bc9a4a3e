import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BrandFiles } from '../brand/brand-files';
import { typeOfImage } from '../brand/brand-rules';
import { brandPath } from '../mail/brand-settings';
import { DomainError } from '../shared/errors/domain-error';
import { serviceUnavailable } from '../shared/errors/error-catalogue';
import { imagePolicy } from './content-security-policy';

/** Everybody may ask for any name, so only so many connections of the pool look for one. */
const mostReadings = 4;

/**
 * Serves the stored images below `/brand/`. The name is the hash of the content, so a browser never asks twice. A file of
 * `BRAND_DIR` with the same path would win, and cannot have it: its name is chosen by a person.
 */
@Injectable()
export class BrandImages implements OnModuleInit {
  private readings = 0;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly files: BrandFiles,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.get<{ Params: { name: string } }>(`${brandPath}:name`, (request, reply) => this.serve(request, reply));
  }

  /** @throws DomainError COMMON_503001 while other look-ups take all places */
  private async serve(
    { params: { name }, headers }: FastifyRequest<{ Params: { name: string } }>,
    reply: FastifyReply,
  ): Promise<unknown> {
    if (this.files.needsReading(name) && this.readings >= mostReadings) throw new DomainError(serviceUnavailable);
    this.readings++;
    const content = await this.files.find(name).finally(() => this.readings--);
    if (content === undefined) return reply.callNotFound();
    const etag = `"${name}"`;
    reply.headers({
      'cache-control': 'public, max-age=31536000, immutable',
      etag,
      'content-security-policy': imagePolicy,
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type(typeOfImage(name)).send(content);
  }
}
