import { judgeReplica } from './replicas';
import { accepting, type UpgradeFinding, verdictOf } from './verdict';

const finding = (check: UpgradeFinding['check'], status: UpgradeFinding['status']): UpgradeFinding => ({
  ...{ check, status },
  text: 'text',
});

describe('the verdict of upgrade --check', () => {
  it('a reason against weighs more than what could not be asked', () => {
    const [no, unknown, warn] = [finding('settings', 'no'), finding('replicas', 'unknown'), finding('schema', 'warn')];
    expect(verdictOf([unknown, no])).toBe('no');
    expect(verdictOf([warn, unknown])).toBe('unknown');
    expect(verdictOf([warn, finding('space', 'info')])).toBe('go');
  });

  it('an accepted check only warns; what could not be asked cannot be accepted', () => {
    const accept = accepting(['migrations']);
    expect(accept(finding('migrations', 'no'))).toMatchObject({ status: 'warn', text: 'text (accepted)' });
    expect(accept(finding('sessions', 'no')).status).toBe('no');
    expect(accept(finding('migrations', 'unknown')).status).toBe('unknown');
  });

  it.each([
    ['2.10.0', 'ok'],
    ['2.9.0', 'ok'],
    ['2.8.7', 'ok'],
    ['2.8.6', 'no'],
    ['2.11.0', 'warn'],
    [null, 'unknown'],
  ])('a replica of version %s beside 2.10.0, after 2.8.7 and 2.9.0: %s', (version, status) => {
    expect(judgeReplica({ url: 'http://replica', version }, '2.10.0', ['2.8.7', '2.9.0']).status).toBe(status);
  });
});
