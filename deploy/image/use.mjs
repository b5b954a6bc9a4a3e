import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { SMTPServer } from 'smtp-server';

/** Starts a mail server and a trace collector. Both keep all data that the service sends. */
export async function openCounterparts() {
  const mails = [];
  const traces = [];
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    async onData(stream, _session, done) {
      mails.push(Buffer.concat(await stream.toArray()).toString());
      done();
    },
  });
  const collector = createHttpServer((request, response) => {
    void json(request).then((body) => traces.push(body));
    response.end('{}');
  });
  smtp.listen(0, '127.0.0.1');
  collector.listen(0, '127.0.0.1');
  await Promise.all([once(smtp.server, 'listening'), once(collector, 'listening')]);
  return {
    mails,
    traces,
    env: {
      SMTP_URL: `smtp://127.0.0.1:${smtp.server.address().port}?tls=none`,
      MAIL_FROM: 'Portal <portal@example.com>',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}`,
    },
    close() {
      smtp.close();
      collector.close().closeAllConnections();
    },
  };
}

/** Acts as a user who solves the captcha, logs in, and asks for a reset link. */
export async function useService(url, { mails }, { username, password, email }) {
  for (const path of ['/health/live', '/health/ready']) {
    const { status } = await fetch(url + path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  }
  const challenge = await (await fetch(`${url}/captcha/challenge`)).json();
  const solution = await solveChallenge({ challenge, deriveKey });
  const captcha_token = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
  const { access_token } = await post(url, '/login', { username, password, captcha_token });
  if (typeof access_token !== 'string') throw new Error('a login gave no token');
  await post(url, '/forget-password', { email });
  await within(20, () => mails.length > 0, 'a mail');
  if (!mails[0].includes('reset-password')) throw new Error('the mail has no link');
}

async function post(url, path, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${text}`);
  return JSON.parse(text).data;
}

export async function within(seconds, attempt, what) {
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(200)) {
    if (attempt()) return;
  }
  throw new Error(`${what} did not come within ${seconds} s`);
}
