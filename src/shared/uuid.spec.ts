import { randomUUID } from 'node:crypto';
import { isUuid } from './uuid';

const uuid = '6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab';

describe('isUuid', () => {
  it('accepts the canonical spelling', () => {
    expect([uuid, randomUUID()].every(isUuid)).toBe(true);
  });

  it.each([
    uuid.toUpperCase(),
    `{${uuid}}`,
    uuid.replaceAll('-', ''),
    `urn:uuid:${uuid}`,
    ` ${uuid}`,
    `${uuid} `,
    `${uuid}\n`,
    uuid.replace('f', 'ｆ'),
    uuid.replace('6', 'g'),
    '',
    0,
    null,
    undefined,
    [uuid],
    { toString: () => uuid },
  ])('refuses %j (T210, T211)', (value) => {
    expect(isUuid(value)).toBe(false);
  });
});
