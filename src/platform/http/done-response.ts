import { ApiProperty } from './api-docs';

/**
 * `{ result: true }`, for a route that has nothing else to tell. The empty subclasses of other routes keep the names that
 * version 1 promises (docs/promise.md): generated clients have a type of each name. A new route uses this class.
 */
export class DoneResponse {
  @ApiProperty({ enum: [true] })
  result: true;
}
