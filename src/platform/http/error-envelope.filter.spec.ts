import { finished, Readable } from 'node:stream';
import { ForbiddenException, HttpException, Logger } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ErrorEnvelopeFilter } from './error-envelope.filter';

/** What Fastify reports of a stream of an answer that it has destroyed, or that has failed. */
const endOf = (stream: Readable, error?: Error): Promise<unknown> =>
  new Promise((done) => {
    finished(stream, { readable: true, writable: false }, done);
    stream.destroy(error);
  });

describe('ErrorEnvelopeFilter', () => {
  const logged: unknown[] = [];

  beforeEach(() => {
    logged.length = 0;
    const note = (...line: unknown[]) => void logged.push(line);
    Logger.overrideLogger({ log: note, warn: note, error: note });
  });

  async function statusFor(error: unknown): Promise<number> {
    const server = new FastifyAdapter().getInstance();
    const filter = new ErrorEnvelopeFilter();
    server.setErrorHandler((thrown, asked, reply) => filter.catch(thrown, new ExecutionContextHost([asked, reply])));
    server.get('/export', () => Promise.reject(error as Error));
    const { statusCode } = await server.inject('/export');
    await server.close();
    return statusCode;
  }

  it('does not log a stream that was destroyed before its first byte, because its client has gone', async () => {
    await statusFor(await endOf(new Readable({ read: () => undefined })));
    expect(logged).toEqual([]);
  });

  it('logs a stream that has failed before its first byte as a bug', async () => {
    expect(await statusFor(await endOf(new Readable({ read: () => undefined }), new Error('a bug')))).toBe(500);
    expect(JSON.stringify(logged)).toContain('COMMON_500001');
  });

  it.each([412, 416])(
    'answers a condition or a range that no file meets with 400 and not with 500 (%i)',
    async (status) => {
      expect(await statusFor(new HttpException('no such range', status))).toBe(400);
      expect(logged).toEqual([]);
    },
  );

  it('answers a path that leaves the folder of the pages, such as /docs/%2e%2e/x, with 404 and not with 500', async () => {
    expect(await statusFor(new ForbiddenException())).toBe(404);
    expect(logged).toEqual([]);
  });
});
