import { DomainError } from '../../shared/errors/domain-error';
import { internalError, loginFailed, serviceUnavailable } from '../../shared/errors/error-catalogue';
import { HashQueueFull } from '../../hashing/password-hasher';
import { storeUnavailable } from '../database/store-failure';
import { describeError } from './describe-error';

const refusedConnection = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:3306'), { code: 'ECONNREFUSED' });

describe('the log line of an error', () => {
  it.each([
    ['an overload', new HashQueueFull(3), { type: 'HashQueueFull', message: 'COMMON_503001' }],
    ['a refusal of the catalogue', new DomainError(loginFailed), { type: 'DomainError', message: loginFailed.code }],
    ['a store that is down', storeUnavailable(refusedConnection), { type: 'Error', code: 'ECONNREFUSED' }],
    [
      'a refusal whose cause has a cause',
      new DomainError(serviceUnavailable, undefined, { cause: new Error('outer', { cause: refusedConnection }) }),
      { type: 'Error', message: 'outer', cause: { type: 'Error', code: 'ECONNREFUSED' } },
    ],
  ])('has the reason of %s, and no stack', (_what, error, told) => {
    expect(describeError(error)).toEqual(told);
  });

  it.each([
    ['an unexpected error', new TypeError('x is not a function')],
    ['an internal error of the catalogue', new DomainError(internalError)],
  ])('has the stack of %s', (_what, error) => {
    expect(describeError(error)).toMatchObject({ message: error.message, stack: expect.stringMatching(/^\s+at /) });
  });
});
