import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { FakeClock } from '../../test/support/fakes';
import { CertificateAuthority } from '../../test/support/servers/certificates';
import type { LogSearch } from '../audit/log-search';
import type { DirectorySettings } from '../directory/ldap-settings';
import { MaintenanceFigures } from './maintenance-figures';

const day = 86_400;

describe('the days until certificates end', () => {
  let directory: string;
  let pem: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'authorities-'));
    // It is valid for two days.
    ({ ca: pem } = await CertificateAuthority.create(directory));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const clock = new FakeClock(new Date());
  const figures = (ca?: string) =>
    new MaintenanceFigures(
      {} as LogSearch,
      { ldap: ca === undefined ? undefined : { ca } } as DirectorySettings,
      clock,
    );

  it('are those of the first certificate of the file, fall with the time, and are negative afterwards', () => {
    const one = figures(`# two authorities\n${pem}\n${pem}`);
    const left = () => one.certificateDays().get('LDAP_CA_FILE')!;
    expect(Math.round(left())).toBe(2);
    clock.advanceSeconds(3 * day);
    expect(Math.round(left())).toBe(-1);
    clock.advanceSeconds(-3 * day);
  });

  it('have no value without a file, and for a text that is no certificate', () => {
    expect(figures().certificateDays().get('LDAP_CA_FILE')).toBeUndefined();
    const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    expect(figures(damaged).certificateDays().get('LDAP_CA_FILE')).toBeUndefined();
    expect(
      Math.round(
        figures(damaged + pem)
          .certificateDays()
          .get('LDAP_CA_FILE')!,
      ),
    ).toBe(2);
  });

  it('are told for NODE_EXTRA_CA_CERTS where Node knows them', () => {
    const node = tls as { getCACertificates?: unknown };
    const before = node.getCACertificates;
    try {
      node.getCACertificates = (kind: string) => (kind === 'extra' ? [pem] : []);
      expect(Math.round(figures().certificateDays().get('NODE_EXTRA_CA_CERTS')!)).toBe(2);
    } finally {
      if (before === undefined) delete node.getCACertificates;
      else node.getCACertificates = before;
    }
  });
});
