import { recordOfLine } from './log-record';

const request = {
  level: 40,
  time: '2026-03-02T10:00:00.123Z',
  context: 'http',
  requestId: 'r',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  status: 503,
  err: { type: 'Error', code: 'ECONNREFUSED' },
  ms: 1.5,
  msg: 'request',
};

describe('the record of a log line', () => {
  it('has level, time, message and ids in the fields of OpenTelemetry, and every other field as an attribute', () => {
    expect(recordOfLine(`${JSON.stringify(request)}\n`)).toEqual({
      timestamp: new Date(request.time),
      severityNumber: 13,
      severityText: 'WARN',
      body: 'request',
      attributes: { context: 'http', requestId: 'r', status: 503, err: request.err, ms: 1.5 },
      trace: { traceId: request.traceId, spanId: request.spanId },
    });
  });

  it('is an event with its type as the body for an audit line, which has no message', () => {
    const data = { id: 7, mfa: null };
    const { level, time } = request;
    const line = { level, time, log: 'audit', type: 'login.failed', timestamp: time, data };
    expect(recordOfLine(JSON.stringify(line))).toMatchObject({
      body: 'login.failed',
      eventName: 'login.failed',
      attributes: { log: 'audit', type: 'login.failed', timestamp: time, data },
      trace: undefined,
    });
  });

  it.each([
    [10, 1],
    [20, 5],
    [30, 9],
    [40, 13],
    [50, 17],
    [60, 21],
    ['x', undefined],
  ])('level %s has the severity number %s', (level, expected) => {
    expect(recordOfLine(JSON.stringify({ ...request, level }))?.severityNumber).toBe(expected);
  });

  it('has no time when that of the line is none, and there is no record of a text that is no object', () => {
    expect(recordOfLine(JSON.stringify({ ...request, time: 'x' }))?.timestamp).toBeUndefined();
    for (const text of ['', 'null', '1', '{"a":']) expect(recordOfLine(text)).toBeUndefined();
  });
});
