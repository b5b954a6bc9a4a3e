import { LogCopies } from './log-copies';
import { createLogger } from './logger';

const span = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isRemote: false };

class Lines {
  readonly all: string[] = [];
  readonly dropped = 0;
  write = (line: string) => this.all.push(line);
  add = (line: string) => void this.all.push(line);
  close = () => Promise.resolve();
}

describe('createLogger', () => {
  it('gives each copy the very line of standard output, also for the lines from before the export is open', () => {
    const [output, exported, copies] = [new Lines(), new Lines(), new LogCopies()];
    const logger = createLogger('info', { copies }, output);
    logger.info({ context: 'main' }, 'early');
    logger.debug('too low');
    copies.passTo(exported);
    logger.warn(
      { err: Object.assign(new Error("Duplicate entry 'alice'"), { code: 'ER_DUP_ENTRY', sql: 'x' }) },
      'late',
    );
    expect(output.all).toHaveLength(2);
    expect(exported.all).toEqual(output.all);
    expect(exported.all.join()).not.toContain('alice');
  });

  it('adds the ids of the span in which a line is written, unless the line has its own', () => {
    const output = new Lines();
    let current: typeof span | undefined = span;
    const logger = createLogger('info', { spanIds: () => current }, output);
    logger.info('in a span');
    logger.info({ traceId: 'own', spanId: 'own' }, 'with ids');
    current = undefined;
    logger.info('outside');
    const ids = output.all.map((line) => {
      const { traceId, spanId, isRemote } = JSON.parse(line) as Record<string, unknown>;
      return [traceId, spanId, isRemote];
    });
    expect(ids).toEqual([
      [span.traceId, span.spanId, undefined],
      ['own', 'own', undefined],
      [undefined, undefined, undefined],
    ]);
  });
});
