import * as api from '@opentelemetry/api';
import * as resources from '@opentelemetry/resources';
import * as sdk from '@opentelemetry/sdk-logs';
import { Logger } from '@nestjs/common';
import { OtlpLogs } from './otlp-logs';

type Done = Parameters<sdk.LogRecordExporter['export']>[1];

/** A collector that answers only when the test says so. */
class Collector implements sdk.LogRecordExporter {
  readonly batches: sdk.ReadableLogRecord[][] = [];
  private readonly open: Done[] = [];
  isShutDown = false;

  export(records: sdk.ReadableLogRecord[], done: Done): void {
    this.batches.push(records);
    this.open.push(done);
  }

  answer(code: 0 | 1): void {
    this.open.shift()!({ code });
  }

  /** An export without an answer has a timer of the SDK. */
  async answerAll(): Promise<void> {
    for (; this.open.length > 0; await settled()) this.answer(0);
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    this.isShutDown = true;
    return Promise.resolve();
  }
}

const limits = { waiting: 8, batch: 4, closeMs: 60_000 };
const line = (n: number) => `${JSON.stringify({ level: 30, time: '2026-03-02T10:00:00.000Z', n, msg: 'm' })}\n`;
const settled = () => new Promise(setImmediate);

describe('OtlpLogs', () => {
  let collector: Collector;
  let logs: OtlpLogs;
  let told: string[];
  beforeEach(() => {
    told = [];
    for (const level of ['warn', 'log'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation((...args: unknown[]) => void told.push(String(args[1])));
    }
    collector = new Collector();
    logs = new OtlpLogs({ api, resources, sdk }, collector, limits);
  });
  afterEach(async () => {
    await collector.answerAll();
    jest.restoreAllMocks();
  });

  const add = (count: number) => {
    for (let n = 0; n < count; n++) logs.add(line(n));
  };

  it('sends a full batch at once, in the order of the lines, and counts nothing as dropped', async () => {
    add(4);
    await settled();
    expect(collector.batches.map((batch) => batch.map(({ attributes }) => attributes.n))).toEqual([[0, 1, 2, 3]]);
    collector.answer(0);
    await settled();
    expect([logs.dropped, told]).toEqual([0, []]);
  });

  it('while the collector does not answer, keeps as many lines as its limit, drops and counts the others, and says so once', async () => {
    add(20);
    await settled();
    expect(logs.dropped).toBe(12);
    expect(told).toEqual([expect.stringContaining('they are dropped and counted')]);
    collector.answer(0);
    await settled();
    collector.answer(0);
    await settled();
    expect(collector.batches.flat()).toHaveLength(8);
    expect(told.slice(1)).toEqual(['the collector takes log records again']);
    add(4);
    await settled();
    collector.answer(0);
    await settled();
    expect([collector.batches.flat().length, logs.dropped, told.length]).toEqual([12, 12, 2]);
  });

  it('counts the lines of a batch that the collector refuses, and goes on with the next ones', async () => {
    add(4);
    await settled();
    collector.answer(1);
    await settled();
    expect(logs.dropped).toBe(4);
    add(8);
    await settled();
    expect(logs.dropped).toBe(4);
    expect(collector.batches).toHaveLength(2);
  });

  it('counts a text that is no line, and never throws', () => {
    expect(() => logs.add('{')).not.toThrow();
    expect(logs.dropped).toBe(1);
  });

  it('sends what waits when it is closed', async () => {
    add(2);
    const closing = logs.close();
    await settled();
    expect(collector.batches.map((batch) => batch.length)).toEqual([2]);
    collector.answer(0);
    await closing;
    expect(collector.isShutDown).toBe(true);
  });

  it('a collector that does not answer ends the close at its limit', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      add(2);
      let isClosed = false;
      const closing = logs.close().then(() => (isClosed = true));
      await settled();
      expect([collector.batches.length, isClosed]).toEqual([1, false]);
      jest.advanceTimersByTime(limits.closeMs);
      await closing;
    } finally {
      jest.useRealTimers();
    }
  });

  it('a record belongs to the span of its line, and to none without ids', async () => {
    const ids = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
    logs.add(JSON.stringify({ ...(JSON.parse(line(0)) as object), ...ids }));
    add(3);
    await settled();
    expect(collector.batches[0]!.map(({ spanContext }) => spanContext?.traceId)).toEqual([
      ids.traceId,
      ...[undefined, undefined, undefined],
    ]);
    expect(collector.batches[0]![0]!.spanContext).toMatchObject(ids);
  });
});
