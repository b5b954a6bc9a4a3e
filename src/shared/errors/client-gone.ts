import { DomainError } from './domain-error';
import { serviceUnavailable } from './error-catalogue';

/**
 * The client closed its connection before the work that it waited for began. Nobody reads the answer. This is not a
 * failure of the service, so it is not logged. The metrics count the abandoned hashes.
 */
export class ClientGone extends DomainError {
  override readonly name = 'ClientGone';

  constructor() {
    super(serviceUnavailable);
  }
}
