import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpSettings } from '../../platform/config/http-settings';
import { PrivacySettings } from '../../users/account-settings';
import { sendError } from '../../platform/http/error-envelope';
import { HashQueueFull, PasswordHasher } from '../../hashing/password-hasher';
import { RefusalPace } from './refusal-pace';

/**
 * Refuses a login that the hash queue would refuse, before it is counted and validated, because in an overload most of
 * the work is refusing. An accepted login keeps a place in the queue, so that of many logins of one moment only those
 * are accepted that can be hashed in time.
 */
@Injectable()
export class LoginAdmission implements OnModuleInit {
  private readonly pace = new RefusalPace();

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly http: HttpSettings,
    private readonly privacy: PrivacySettings,
    private readonly host: HttpAdapterHost,
  ) {}

  /** The hook is `preValidation`, because the body names the provider: a login at the directory waits for no hash. */
  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const path = `${this.http.apiPrefix}/login`;
    fastify.addHook('preValidation', (request, reply, done) => {
      const isLogin = request.method === 'POST' && request.routeOptions.url === path;
      const refusal = isLogin && this.needsHash(request) ? this.refusalOf(request, reply) : undefined;
      if (refusal === undefined) done();
      else setTimeout(() => sendError(reply, refusal, request.client.language), this.pace.next(performance.now()));
    });
  }

  private needsHash({ body }: FastifyRequest): boolean {
    const { provider } = (body ?? {}) as { provider?: unknown };
    return provider !== 'ldap' || this.privacy.hideAccountExistence;
  }

  private refusalOf({ client }: FastifyRequest, reply: FastifyReply): HashQueueFull | undefined {
    try {
      reply.raw.once('close', this.hasher.reserve(client));
      return undefined;
    } catch (refusal) {
      if (refusal instanceof HashQueueFull) return refusal;
      throw refusal;
    }
  }
}
