import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServedDocument } from './served-document';

/** A document that counts how often it is made and how often it is serialised. */
function counted(failures = 0) {
  const counts = { made: 0, serialised: 0 };
  const served = new ServedDocument(async () => {
    counts.made += 1;
    await new Promise(setImmediate);
    if (counts.made <= failures) throw new Error('not yet');
    return { toJSON: () => ({ openapi: '3.1.0', serialised: ++counts.serialised }) };
  });
  return { counts, served };
}

async function ask(served: ServedDocument, ifNoneMatch?: string) {
  const answer = { status: 200, headers: {} as Record<string, string>, body: undefined as Buffer | undefined };
  const reply = {
    header: (name: string, value: string) => ((answer.headers[name] = value), reply),
    type: (value: string) => reply.header('content-type', value),
    status: (code: number) => ((answer.status = code), reply),
    send: (body?: Buffer) => ((answer.body = body), reply),
  };
  const request = { headers: { 'if-none-match': ifNoneMatch } };
  await served.answer(request as unknown as FastifyRequest, reply as unknown as FastifyReply);
  return answer;
}

describe('ServedDocument', () => {
  it('is made once and serialised once, also for parallel first requests, and sends one buffer', async () => {
    const { counts, served } = counted();
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(served)));
    answers.push(await ask(served));
    expect(counts).toEqual({ made: 1, serialised: 1 });
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  });

  it('is made again after a failure, and only requests that waited for the failed attempt are rejected', async () => {
    const { counts, served } = counted(1);
    const refused = await Promise.allSettled([ask(served), ask(served)]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await ask(served)).status).toBe(200);
    expect(counts).toEqual({ made: 2, serialised: 1 });
  });

  it('answers 304 without a body to a request with its ETag, and 200 with the document to any other', async () => {
    const { served } = counted();
    const { etag = '' } = (await ask(served)).headers;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect(await ask(served, tag)).toEqual({ status: 304, headers: { etag }, body: undefined });
    }
    for (const tag of ['', '"other"', etag.slice(1, -1), `${etag}x`]) {
      expect(await ask(served, tag)).toMatchObject({ status: 200, headers: { etag } });
    }
  });
});
