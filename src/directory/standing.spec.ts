import type { Clock } from '../shared/clock';
import type { Directory } from './directory';
import type { DirectoryPerson, Finding } from './person';
import { DirectoryStanding } from './standing';

describe('the entry of an account', () => {
  const person = (id: string | null) => ({ kind: 'person', person: { id } as DirectoryPerson }) as const;
  const find = jest.fn<Promise<Finding>, [object]>();
  const standing = new DirectoryStanding({ find } as unknown as Directory, {} as Clock);
  const personOf = (directoryId: string | null) => standing.personOf({ loginName: 'ann', directoryId }, 0);
  beforeEach(() => find.mockReset());

  it('is not known while the entry of the name has no id, or while several have the name of an unbound account', async () => {
    find.mockResolvedValueOnce(person(null)).mockResolvedValueOnce({ kind: 'several' });
    await expect(personOf('bound')).rejects.toThrow('LOGIN_503001');
    await expect(personOf(null)).rejects.toThrow('LOGIN_503001');
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('is found by its id when another entry, several entries or none have the name', async () => {
    for (const named of [person('another'), { kind: 'several' }, { kind: 'nobody' }] as const) {
      find.mockResolvedValueOnce(named).mockResolvedValueOnce(person('bound'));
      expect(await personOf('bound')).toEqual({ id: 'bound' });
      expect(find).toHaveBeenLastCalledWith({ id: 'bound' }, 0);
    }
  });
});
