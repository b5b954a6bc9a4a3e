import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import * as catalogue from '../../src/shared/errors/error-catalogue';

/** The codes of docs/spec/service.md#7, with their status in docs/spec/decisions.md#1. */
const specified: [code: string, status: number][] = [
  ['LOGIN_401001', 401],
  ['LOGIN_401004', 401],
  ['LOGIN_401008', 401],
  ['LOGIN_401011', 401],
  ['LOGIN_401012', 401],
  ['LOGIN_401013', 401],
  ['LOGIN_404001', 404],
  ['MFA_401001', 401],
  ['AUTH_MFA_401001', 401],
  ['MFA_429001', 429],
  ['AUTH_404002', 404],
  ['AUTH_429002', 429],
  ['AUTH_401003', 401],
  ['AUTH_401005', 401],
  ['AUTH_401007', 401],
  ['AUTH_401009', 401],
  ['AUTH_401010', 401],
  ['AUTH_400007', 400],
  ['COMMON_500001', 500],
];

/** The codes that docs/spec/decisions.md#1 adds. */
const added: [code: string, status: number][] = [
  ['CAPTCHA_401001', 401],
  ['CAPTCHA_503001', 503],
  ['LOGIN_503001', 503],
  ['LOGIN_503002', 503],
  ['LOGIN_503003', 503],
  ['AUTH_401001', 401],
  ['AUTH_401002', 401],
  ['AUTH_401004', 401],
  ['AUTH_401006', 401],
  ['MFA_400001', 400],
  ['MFA_404001', 404],
  ['COMMON_400001', 400],
  ['COMMON_404001', 404],
  ['COMMON_405001', 405],
  ['COMMON_413001', 413],
  ['COMMON_415001', 415],
  ['COMMON_429001', 429],
  ['COMMON_503001', 503],
];

/** The codes that docs/spec/extensions.md adds. */
const extended: [code: string, status: number][] = [
  ['AUTH_403001', 403],
  ['AUTH_403002', 403],
  ['AUTH_401011', 401],
  ['USER_404001', 404],
  ['PASSKEY_400001', 400],
  ['PASSKEY_401001', 401],
  ['USER_409001', 409],
  ['USER_409002', 409],
  ['APP_400001', 400],
  ['APP_403001', 403],
  ['APP_404001', 404],
];

const entries = Object.values(catalogue);
const codes = entries.map((entry) => entry.code);

describe('the error catalogue', () => {
  const statuses = new Map(entries.map(({ code, status }) => [code, status]));

  it('contains every code of the contract, with its status', () => {
    expect(specified.map(([code]) => [code, statuses.get(code)])).toEqual(specified);
  });

  it('also contains the codes that the decisions and the extensions add, and no others', () => {
    expect(Object.fromEntries(statuses)).toEqual(Object.fromEntries([...specified, ...added, ...extended]));
  });

  it('is the only place for codes: the lint rule of src finds each one', () => {
    // The rule alone, in a program of its own: the whole configuration would need the types of all files.
    const program = `
      import { readFileSync } from 'node:fs';
      import { Linter } from 'eslint';
      import config from './eslint.config.mjs';
      const rule = 'no-restricted-syntax';
      const rules = { [rule]: config.find((part) => part.rules?.[rule]?.length > 1).rules[rule] };
      console.log(JSON.stringify(new Linter().verify(readFileSync(0, 'utf8'), [{ rules }])));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: resolve(__dirname, '../..'),
      input: codes.map((code) => `f('${code}');`).join('\n'),
      encoding: 'utf8',
    });
    const messages = JSON.parse(stdout) as { line: number; message: string }[];
    const found = messages
      .filter(({ message }) => message.startsWith('Error codes are written'))
      .map(({ line }) => line);
    expect(found.map((line) => codes[line - 1])).toEqual(codes);
  });

  it('contains each code once', () => {
    expect(new Set(codes).size).toBe(codes.length);
  });

  it.each(entries.map((entry) => [entry.code, entry] as const))(
    '%s begins with the digits of its status',
    (code, { status }) => {
      expect(code).toMatch(/^[A-Z_]+_\d{6}$/);
      expect(String(status)).toBe(/_(\d{3})\d{3}$/.exec(code)?.[1]);
    },
  );

  it.each(entries.map((entry) => [entry.code, entry] as const))(
    '%s has a message in every language',
    (_code, { msg }) => {
      expect(Object.keys(msg).sort()).toEqual(['en', 'zh-CN']);
      for (const text of Object.values(msg)) expect(text.trim()).not.toBe('');
      // A forgotten translation would be a copy of the English text.
      expect(msg['zh-CN']).toMatch(/\p{Script=Han}/u);
      expect(msg.en).not.toMatch(/\p{Script=Han}/u);
    },
  );
});
