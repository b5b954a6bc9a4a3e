import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Answer, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapSettings } from '../support/ldap';
import { Replicas } from '../support/replicas';
import { OpenLdap } from '../support/servers/openldap';
import { captchaToken } from '../support/settings';

type Mischief = 'none' | 'reset' | 'cut' | 'end' | 'garbage' | 'bit' | 'silence';

const onTheWay: Mischief[] = ['none', 'reset', 'cut', 'end', 'silence'];
/** TLS has to notice these; without it nobody could. */
const onTheBytes: Mischief[] = [...onTheWay, 'garbage', 'bit'];

/**
 * A network that does something bad at some point of every connection: after so many bytes from the server, each time
 * after some more. What the library does then in the wrong moment was seen to end the whole process: an error event of a
 * socket that it had stopped listening to, when the connection below TLS went before the one above it.
 */
describe('a bad network between the service and the directory (T179, W20)', () => {
  let directory: OpenLdap;

  beforeAll(async () => {
    directory = await OpenLdap.start();
  });

  afterAll(() => directory?.stop());

  it.each([
    ['ldap://', onTheWay, () => directory.port, () => ({})],
    ['StartTLS', onTheBytes, () => directory.port, () => ({ LDAP_START_TLS: 'true' })],
    ['ldaps://', onTheBytes, () => directory.tlsPort, () => ({})],
  ])(
    'by %s: each login is answered, none is counted as wrong, and the process lives on',
    async (way, mischiefs, port, more) => {
      const network = await badNetwork(port(), mischiefs);
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
        for (let round = 0; round < 15; round++) {
          const login = (username: string) =>
            service.post('/login', {
              username,
              password: directoryPassword,
              provider: 'ldap',
              captcha_token: captchaToken,
            });
          answers.push(...(await Promise.all(names.map(login))));
        }
        const { success = 0, LOGIN_503001: unavailable = 0, ...others } = tally(answers);
        expect(others).toEqual({});
        expect(success).toBeGreaterThan(0);
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

async function badNetwork(target: number, mischiefs: Mischief[]): Promise<{ server: Server; port: number }> {
  let connections = 0;
  const server = createServer((client) => {
    const n = connections++;
    const mischief = mischiefs[n % mischiefs.length]!;
    // Steps of a prime: over many connections every point of the conversation is hit.
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
      if (left > 0 || mischief === 'none') client.write(chunk);
      else spoil(client, chunk, mischief);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as { port: number }).port };
}

function spoil(client: Socket, chunk: Buffer, mischief: Mischief): void {
  switch (mischief) {
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
