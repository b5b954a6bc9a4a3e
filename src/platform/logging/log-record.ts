/** What JSON can hold. */
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A log line in the data model of OpenTelemetry. */
export interface LineRecord {
  readonly timestamp: Date | undefined;
  readonly severityNumber: number | undefined;
  readonly severityText: string | undefined;
  readonly body: string | undefined;
  readonly eventName: string | undefined;
  readonly attributes: Record<string, Json>;
  /** The ids of the span to which the line belongs. */
  readonly trace: { readonly traceId: string; readonly spanId: string } | undefined;
}

/** The levels of pino, and SeverityNumber of the data model of OpenTelemetry. */
const severities: Readonly<Record<number, readonly [number, string]>> = {
  10: [1, 'TRACE'],
  20: [5, 'DEBUG'],
  30: [9, 'INFO'],
  40: [13, 'WARN'],
  50: [17, 'ERROR'],
  60: [21, 'FATAL'],
};

/**
 * Reads a line of standard output. Level, time, message and ids of the span have fields of their own in a record. Every
 * other field becomes an attribute with its name. An audit line has no message, so its type is the body.
 * @returns undefined when the line is not a JSON object
 */
export function recordOfLine(line: string): LineRecord | undefined {
  const fields = parsed(line);
  if (fields === undefined) return undefined;
  const { level, time, msg, traceId, spanId, ...attributes } = fields;
  const [severityNumber, severityText] = severities[level as number] ?? [];
  const eventName = attributes.log === 'audit' ? (attributes.type as string) : undefined;
  const at = new Date(time as string);
  return {
    timestamp: Number.isNaN(at.getTime()) ? undefined : at,
    severityNumber,
    severityText,
    body: eventName ?? (msg as string | undefined),
    eventName,
    attributes,
    trace: typeof traceId === 'string' && typeof spanId === 'string' ? { traceId, spanId } : undefined,
  };
}

function parsed(line: string): Record<string, Json> | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, Json>) : undefined;
  } catch {
    return undefined;
  }
}
