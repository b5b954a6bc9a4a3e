import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface Representation {
  readonly body: Buffer;
  /** A strong ETag: the same tag means the same bytes. */
  readonly etag: string;
}

/** An OpenAPI document as bytes: the first request makes the document, and all requests share one buffer. */
export class ServedDocument {
  private made: Promise<Representation> | undefined;

  constructor(private readonly make: () => Promise<object>) {}

  /** Answers 304 without a body when `If-None-Match` contains the current tag (RFC 9110 §13.1.2). */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { body, etag } = await this.representation();
    reply.header('etag', etag);
    if (namesTag(request.headers['if-none-match'], etag)) return reply.status(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  }

  /** Parallel first requests wait for one promise. After a failure the next request tries again. */
  private representation(): Promise<Representation> {
    this.made ??= this.make()
      .then(represented)
      .catch((error: unknown) => {
        this.made = undefined;
        throw error;
      });
    return this.made;
  }
}

function represented(document: object): Representation {
  const body = Buffer.from(JSON.stringify(document));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

/** If-None-Match compares weakly: a proxy that compresses may have put `W/` before the tag. */
function namesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
