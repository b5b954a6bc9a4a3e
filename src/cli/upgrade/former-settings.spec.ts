import { dataKey } from '../../../test/support/settings';
import { loadConfig } from '../../settings/app-config';
import { besideFormer, comparedWith } from './former-settings';

const base = {
  NODE_ENV: 'test',
  JWT_SECRET: 'a secret of 43 characters, all of one kind.',
  DATA_ENCRYPTION_KEY: dataKey('upgrade'),
  TOKEN_BINDING: 'off',
};
const pending = ['EventReceivers1770500000000', 'LegacyLogins1770700000000'];
const found = (settings: Record<string, string>, names = pending) =>
  besideFormer(loadConfig({ ...base, ...settings }), names).map(
    ({ status, text }) => `${status} ${text.split(':')[0]}`,
  );

describe('settings that do harm beside a replica of the version before', () => {
  const legacy = { LEGACY_VERIFY_SECRET: `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}` };

  it('receivers of events and an old system are named, also where the address is a secret', () => {
    expect(found({})).toEqual([]);
    expect(found({ EVENT_RECEIVERS: 'on' })).toEqual(['warn EVENT_RECEIVERS']);
    for (const url of ['https://old.test/verify', 'https://old.test/verify?key=secret']) {
      expect(found({ ...legacy, LEGACY_VERIFY_URL: url })).toEqual(['warn LEGACY_VERIFY_URL']);
    }
  });

  it('are no finding when the version before had them as well', () => {
    expect(found({ ...legacy, EVENT_RECEIVERS: 'on', LEGACY_VERIFY_URL: 'https://old.test/' }, [])).toEqual([]);
  });
});

describe('the settings of the running version', () => {
  it('a file that cannot be read is something that could not be asked, and not a reason against the upgrade', () => {
    expect(comparedWith('/nonexistent/former.env', loadConfig(base))).toEqual([
      {
        check: 'settings',
        status: 'unknown',
        text: 'the file of --former-settings cannot be read (ENOENT): keys were not compared',
      },
    ]);
  });
});
