import { Tracing } from '../../src/platform/tracing/tracing';
import { TestService } from '../support/app';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${trace}-00f067aa0ba902b7-01`;

describe('tracing that is off', () => {
  it.each([
    ['without an endpoint', {}],
    ['disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }],
  ])('%s nothing is wrapped, and the trace of a caller still is in the log', async (_, settings) => {
    const service = await TestService.start(settings);
    try {
      expect(service.app.get(Tracing)).toBeUndefined();
      expect(service.database.constructor.name).not.toBe('TracedDatabase');
      await service.get('/user/me', { headers: { traceparent } });
      expect(service.logLines.find(({ route }) => route === '/user/me')).toMatchObject({ traceId: trace });
    } finally {
      await service.stop();
    }
  });
});
