import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testSettings } from '../../test/support/settings';
import { configOrExit } from './env';

describe('settings that a program gives itself', () => {
  let directory: string;
  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'env-'))));
  afterAll(() => rmSync(directory, { recursive: true }));
  afterEach(() => jest.restoreAllMocks());

  it('are no second source of what the operator has in a file', () => {
    const file = join(directory, 'setting');
    writeFileSync(file, 'https://portal.example.com');
    jest.replaceProperty(process, 'env', { ...testSettings, SYSTEM_URL: '', SYSTEM_URL_FILE: file, HOST_FILE: file });
    const config = configOrExit({ HOST: '127.0.0.9' }, (port) => ({ SYSTEM_URL: `http://localhost:${port}` }));
    expect(config.systemUrl).toBe('https://portal.example.com');
    expect(config.http.host).toBe('127.0.0.9');
  });
});
