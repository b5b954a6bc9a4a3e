import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../shared/errors/domain-error';
import { requestInvalid } from '../shared/errors/error-catalogue';
import { sendError } from '../platform/http/error-envelope';

/** Any port is allowed, because the demo may be reached through a forwarded port. No foreign page has these names. */
const ownNames = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/**
 * The demo answers only requests for its own host names. By DNS rebinding, a web page of evil.example points its own
 * name to 127.0.0.1. The page then has the same origin as the demo, and could read the outbox with its codes and links.
 * The browser still sends `Host: evil.example`, so the request is refused.
 */
@Injectable()
export class OwnNames implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    this.host.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      if (ownNames.test(request.headers.host ?? '')) {
        done();
        return;
      }
      const why = 'Host must be 127.0.0.1, localhost or [::1]: the demo answers no other name';
      sendError(reply, new DomainError(requestInvalid, { fields: { Host: [why] } }), request.client.language);
    });
  }
}
