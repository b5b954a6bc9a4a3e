// A browser is a large program that is not ours, and one of its pages can hang for a reason of its own. A test of the
// pages therefore has a second attempt. `npm test` names at its end each test that needed it, so that none hides there.
jest.retryTimes(1, { logErrorsBeforeRetry: true, retryImmediately: true });
