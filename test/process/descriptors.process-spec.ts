import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { post } from '../support/post';
import { jsonRequest, RawConnection, rawRequest, request } from '../support/raw-http';
import { eventually } from '../support/servers/eventually';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

const login = { username: 'nobody', password: 'wrong', captcha_token: captchaToken };

describe('a process that has no file descriptor left', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await ServiceProcess.start({ env: testSettings });
  });
  afterAll(() => service.stop());

  const limitTo = (count: number) => promisify(execFile)('prlimit', ['--pid', `${service.pid}`, `--nofile=${count}:`]);

  const descriptors = async () => (await readdir(`/proc/${service.pid}/fd`)).length;

  it('T259 closes new connections, serves the open ones, does not crash, and recovers when some are free again', async () => {
    // Loads all that the first login needs.
    expect((await post(service, '/login', login)).body.error_code).toBe('LOGIN_404001');
    const early = await RawConnection.open(service.port);
    early.send(request('GET', '/health/live'));
    expect(await early.answers(1)).toMatchObject([{ status: 200 }]);

    const used = await descriptors();
    await limitTo(used + 20);
    const crowd = await Promise.all(Array.from({ length: 100 }, () => RawConnection.open(service.port)));
    await eventually(() => crowd.filter(({ isOpen }) => !isOpen).length >= 50, { what: 'connections are closed' });

    early.send(jsonRequest('/login', login));
    const [, answer] = await early.answers(2);
    expect([404, 503]).toContain(answer?.status);
    expect(early.isOpen).toBe(true);

    await Promise.all(crowd.map((connection) => connection.end()));
    await early.end();
    await eventually(async () => (await rawRequest(service.port, jsonRequest('/login', login)))?.status === 404, {
      what: 'a login on a new connection',
    });
    // Otherwise each crowd would take some of the descriptors for ever. A few may be in use for something else by now.
    await eventually(async () => (await descriptors()) <= used + 10, { what: 'the descriptors are free again' });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(service.lines.filter((line) => line.includes('"level":60'))).toEqual([]);
  });
});
