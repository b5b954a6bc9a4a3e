import { LogExport } from '../../src/platform/logging/log-export';
import { type SpanOptions, Tracing } from '../../src/platform/tracing/tracing';
import { TestService } from '../support/app';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${trace}-00f067aa0ba902b7-01`;

describe('tracing when it is off', () => {
  it.each([
    ['without an endpoint', {}],
    ['disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }],
  ])('%s nothing is instrumented, and the trace id of the caller is still logged', async (_, settings) => {
    const service = await TestService.start(settings);
    try {
      expect(service.app.get(Tracing)).toBeUndefined();
      expect(service.app.get(LogExport)).toBeUndefined();
      expect(Object.hasOwn(service.database, 'rows')).toBe(false);
      await service.get('/user/me', { headers: { traceparent } });
      expect(service.logLines.find(({ route }) => route === '/user/me')).toMatchObject({
        traceId: trace,
        spanId: '00f067aa0ba902b7',
      });
    } finally {
      await service.stop();
    }
  });
});

describe('tracing when it is on', () => {
  it('a login has spans for its wait in the hash queue, for the hash, and for its statements with their database system', async () => {
    const service = await TestService.start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    try {
      expect(Object.hasOwn(service.database, 'rows')).toBe(true);
      const recorded = recordSpans(service.app.get(Tracing));
      await service.givenUser('alice');
      recorded.length = 0;
      expect((await service.login('alice')).status).toBe(200);
      const hashing = recorded.filter(({ options }) => options.kind === 'internal');
      expect(hashing.map(({ name, options }) => [name, options.attributes])).toEqual([
        ['hash queue', undefined],
        ['bcrypt', undefined],
      ]);
      const system = __DATABASE__ === 'sqlite' ? 'sqlite' : 'mysql';
      const statements = recorded.filter(({ options }) => options.kind !== 'internal');
      expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['SELECT users', 'transaction']));
      for (const { options } of statements) {
        expect(options.attributes).toMatchObject({ 'db.system': system, 'db.system.name': system });
      }
    } finally {
      await service.stop();
    }
  });
});

function recordSpans(tracing: Tracing) {
  const recorded: { name: string; options: SpanOptions }[] = [];
  const { span } = tracing;
  tracing.span = function (name, options, work) {
    recorded.push({ name, options });
    return span.call(this, name, options, work) as ReturnType<typeof work>;
  };
  return recorded;
}
