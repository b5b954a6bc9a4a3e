import { DomainError } from '../../shared/errors/domain-error';
import { serviceUnavailable } from '../../shared/errors/error-catalogue';

/** No hash was computed: too many wait. COMMON_503001 with `data.retry_after`. */
export class HashQueueFull extends DomainError {
  override readonly name = 'HashQueueFull';

  /** @param retryAfterSeconds whole seconds, at least 1, after which the work that waits now should be done */
  constructor(readonly retryAfterSeconds: number) {
    super(serviceUnavailable, { retry_after: retryAfterSeconds });
  }
}
