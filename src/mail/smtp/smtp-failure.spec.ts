import { DomainError } from '../../shared/errors/domain-error';
import { serviceUnavailable } from '../../shared/errors/error-catalogue';
import { MailNotReadable } from '../outbox/mail-payload';
import { AddressRefused, describeFailure, failureKind } from './smtp-failure';
import { SmtpProblem } from '../smtp-settings';

const smtpError = (fields: object, message = 'x') => Object.assign(new Error(message), fields);

describe('failureKind', () => {
  it.each([
    ['a recipient that is not one address', new AddressRefused(), 'refused'],
    ['550 to the recipient', smtpError({ code: 'EENVELOPE', command: 'RCPT TO', permanent: true }), 'refused'],
    ['554 to the text', smtpError({ code: 'EMESSAGE', command: 'DATA', permanent: true }), 'refused'],
    ['451 to the recipient', smtpError({ code: 'EENVELOPE', command: 'RCPT TO', permanent: false }), 'later'],
    ['452 to the text', smtpError({ code: 'EMESSAGE', command: 'DATA', permanent: false }), 'later'],
    ['550 to the sender', smtpError({ code: 'EENVELOPE', command: 'MAIL FROM', permanent: true }), 'server'],
    ['a wrong password', smtpError({ code: 'EAUTH', command: 'AUTH PLAIN', permanent: true }), 'server'],
    ['no connection', smtpError({ code: 'ESOCKET' }), 'server'],
    ['a time-out', smtpError({ code: 'ETIMEDOUT' }), 'server'],
    ['an invalid setting', new SmtpProblem('SMTP PORT'), 'server'],
    ['a database that is down', new DomainError(serviceUnavailable), 'server'],
    ['a mail that no key of this process decrypts', new MailNotReadable(), 'server'],
    ['a database that is not connected', smtpError({ name: 'EntityMetadataNotFoundError' }), 'server'],
    ['a connection to the database that has ended', smtpError({ driverError: { fatal: true } }), 'server'],
    ['a certificate of another host', smtpError({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'server'],
    ['a full disk', smtpError({ code: 'ENOSPC' }), 'server'],
    ['the time limit of the mail', new DOMException('x', 'AbortError'), 'later'],
    ['a time-out of a signal', new DOMException('x', 'TimeoutError'), 'later'],
    ['a bug', new TypeError('x'), 'fault'],
    ['a bug that Node names with a code', Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' }), 'fault'],
    ['a template that does not fit its mail', smtpError({ lineNumber: 3 }), 'fault'],
    ['a payload that is not JSON', new SyntaxError('x'), 'fault'],
    ['a thrown value that is not an Error', undefined, 'fault'],
  ])('classifies %s', (_, error, kind) => expect(failureKind(error)).toBe(kind));
});

it('describeFailure returns the stack of a bug without its message, also for an error with a code of Node', () => {
  for (const bug of [new TypeError('alice'), Object.assign(new TypeError('alice'), { code: 'ERR_INVALID_ARG_TYPE' })]) {
    const told = describeFailure(bug);
    expect(told).toMatchObject({ error: 'TypeError', stack: expect.stringContaining('smtp-failure.spec') });
    expect(JSON.stringify(told)).not.toContain('alice');
  }
});

it('describeFailure quotes neither the response of the server nor the mail', () => {
  const error = smtpError(
    {
      code: 'EENVELOPE',
      command: 'RCPT TO',
      responseCode: 550,
      response: '550 alice@example.com',
      rejected: ['alice'],
    },
    'alice@example.com: code 048213',
  );
  expect(describeFailure(error)).toEqual({ error: 'Error', code: 'EENVELOPE', command: 'RCPT TO', reply: 550 });
  expect(
    JSON.stringify(describeFailure(smtpError({ command: 'AUTH PLAIN AGFsaWNl', code: 'a b' }, 'alice'))),
  ).not.toMatch(/AGFs|a b|alice/);
});
