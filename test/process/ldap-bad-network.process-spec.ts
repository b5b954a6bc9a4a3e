import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Answer, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapSettings } from '../support/ldap';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { captchaToken } from '../support/settings';

type Fault = 'none' | 'reset' | 'cut' | 'end' | 'garbage' | 'bit' | 'silence';

const connectionFaults: Fault[] = ['none', 'reset', 'cut', 'end', 'silence'];
/** TLS detects changed bytes. Without TLS nothing can detect them. */
const allFaults: Fault[] = [...connectionFaults, 'garbage', 'bit'];

/**
 * The network fails on each connection after a different number of bytes from the server. At one of these points an
 * unhandled error can end the process: when the TCP connection below TLS is lost first, ldapjs no longer listens for
 * the error event of the socket.
 */
describe('a bad network between the service and the directory (T179, W20)', () => {
  let directory: OpenLdap;

  beforeAll(async () => {
    directory = await OpenLdap.start();
  });

  afterAll(() => directory?.stop());

  it.each([
    ['ldap://', connectionFaults, () => directory.port, () => ({})],
    ['StartTLS', allFaults, () => directory.port, () => ({ LDAP_START_TLS: 'true' })],
    ['ldaps://', allFaults, () => directory.tlsPort, () => ({})],
  ])(
    'by %s each login is answered, none is counted as a failure, and the process keeps running',
    async (way, faults, port, more) => {
      const network = await badNetwork(port(), faults);
      const service = await Replicas.start(
        ldapSettings(directory, {
          LDAP_URL: `${way === 'ldaps://' ? 'ldaps' : 'ldap'}://127.0.0.1:${network.port}`,
          LDAP_CA_FILE: directory.caFile,
          LDAP_TIMEOUT_MS: '150',
          LDAP_JIT_PROVISIONING: 'true',
          ...more(),
        }),
        1,
      );
      try {
        const names = Array.from({ length: 20 }, () => freshName());
        for (const name of names) await givenPerson(directory, name);
        const answers: Answer[] = [];
        const login = (username: string) =>
          service.post('/login', {
            username,
            password: directoryPassword,
            provider: 'ldap',
            captcha_token: captchaToken,
          });
        for (let round = 0; round < 15; round++) answers.push(...(await Promise.all(names.map(login))));
        // On a busy machine every login of the rounds may reach its time limit. One at a time is faster.
        const oneSucceeds = async () => {
          if (!answers.some(({ status }) => status === 200)) answers.push(await login(names[0]!));
          return answers.some(({ status }) => status === 200);
        };
        await eventually(oneSucceeds, { what: 'a login over a connection without a fault' });
        const { LOGIN_503001: unavailable = 0, ...others } = tally(answers);
        expect(Object.keys(others)).toEqual(['success']);
        expect(unavailable).toBeGreaterThan(0);
        expect((await service.get('/health/ready')).status).toBe(200);
        expect(await service.rows('SELECT uid FROM users WHERE login_failed_count > 0')).toEqual([]);
      } finally {
        await service.stop();
        network.server.close();
      }
    },
  );
});

async function badNetwork(target: number, faults: Fault[]): Promise<{ server: Server; port: number }> {
  let connections = 0;
  const server = createServer((client) => {
    const n = connections++;
    const fault = faults[n % faults.length]!;
    // The step is a prime number, so that many connections together fail at every point of the conversation.
    let left = (n * 37) % 2500;
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0 || fault === 'none') client.write(chunk);
      else spoil(client, chunk, fault);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as { port: number }).port };
}

function spoil(client: Socket, chunk: Buffer, fault: Fault): void {
  switch (fault) {
    case 'reset':
      client.resetAndDestroy();
      break;
    case 'cut':
      client.destroy();
      break;
    case 'end':
      client.end();
      break;
    case 'garbage':
      client.write(Buffer.from(chunk).reverse());
      break;
    case 'bit':
      chunk[chunk.length >> 1]! ^= 1;
      client.write(chunk);
      break;
    default:
      break;
  }
}
