import { parseTraceparent } from './traceparent';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

describe('traceparent (W3C Trace Context §3.2)', () => {
  it.each([
    ['sampled', `00-${trace}-${span}-01`, true],
    ['not sampled', `00-${trace}-${span}-00`, false],
    ['sampled, with another flag', `00-${trace}-${span}-03`, true],
    ['of a later version, with more parts', `01-${trace}-${span}-01-more`, true],
  ])('accepts a header that is %s', (_, header, sampled) => {
    expect(parseTraceparent(header)).toEqual({ traceId: trace, spanId: span, sampled });
  });

  it.each([
    ['a missing header', undefined],
    ['an array', [`00-${trace}-${span}-01`]],
    ['the forbidden version', `ff-${trace}-${span}-01`],
    ['version 00 with more than four parts', `00-${trace}-${span}-01-more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${span}-01`],
    ['a span id of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${trace.toUpperCase()}-${span}-01`],
    ['a line break', `00-${trace}-${span}-01\n`],
    ['a header of 256 characters or more', `01-${trace}-${span}-01-${'x'.repeat(300)}`],
    ['any other text', 'x'],
  ])('ignores %s', (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
