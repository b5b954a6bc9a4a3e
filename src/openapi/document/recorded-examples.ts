import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One request and its answer, as `npm run openapi:examples` has recorded them. Secrets and ids are replaced. */
export interface RecordedExchange {
  /** Unique among the answers of an operation in one media type. The name of a failure is its error code. */
  readonly name: string;
  readonly summary?: string;
  /** Values of the parameters in path and query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The body of a request that succeeds. */
  readonly request?: unknown;
  readonly status: number;
  readonly mediaType: string;
  readonly answer: unknown;
}

/** The exchanges of each operation, by `operationId`. */
export type RecordedExamples = Readonly<Record<string, readonly RecordedExchange[]>>;

export const recordedFile = join(__dirname, '../examples/recorded.json');

/** Reads the file whenever a document is made. A service whose document nobody requests does not hold the examples. */
export const recordedExamples = (): RecordedExamples =>
  JSON.parse(readFileSync(recordedFile, 'utf8')) as RecordedExamples;
