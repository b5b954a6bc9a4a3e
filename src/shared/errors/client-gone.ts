import { DomainError } from './domain-error';
import { serviceUnavailable } from './error-catalogue';

/**
 * The client closed its connection before what it waited for was begun. Nobody reads the answer, and it is no failure of
 * the service: it is not logged. The metrics count the hashes that were abandoned.
 */
export class ClientGone extends DomainError {
  override readonly name = 'ClientGone';

  constructor() {
    super(serviceUnavailable);
  }
}
